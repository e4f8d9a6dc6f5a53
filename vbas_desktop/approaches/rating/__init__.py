"""How good a solution is; lower is better for each measure."""
