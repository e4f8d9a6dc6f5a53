"""Which site each initial region belongs to. One module per approach."""
