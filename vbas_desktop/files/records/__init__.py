"""Reading record files: one pass turns a file into coded columns. It begins with `table.load_records`."""
