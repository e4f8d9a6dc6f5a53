"""Read and write record files. Reading begins with `table.load_records`."""
