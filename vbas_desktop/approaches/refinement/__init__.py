"""What is changed after the construction: which initial regions go to a neighbour. One module per approach."""
