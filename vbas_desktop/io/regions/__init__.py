"""Reading region files: points or shapes, ids, and what their coordinates mean. It begins with `read.load_regions`."""
