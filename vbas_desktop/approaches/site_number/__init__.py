"""How many sites. One module per approach."""
