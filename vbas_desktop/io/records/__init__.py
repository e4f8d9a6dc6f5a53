"""Read and write record files."""
