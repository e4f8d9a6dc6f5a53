"""Write a release: the anonymised file with its documents, verified by reading it back, then published as a whole."""
