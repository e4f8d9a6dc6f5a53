"""Reading record files: one pass turns a file into coded columns. The package's door is `table.load_records`."""
