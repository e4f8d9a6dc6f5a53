"""Where the sites are. One module per approach."""
