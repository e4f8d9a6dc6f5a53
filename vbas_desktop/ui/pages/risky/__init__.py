"""The page "Risky combinations": which answers single people out, and coarsening them step by step."""
