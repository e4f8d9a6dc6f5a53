"""Reading region files: points or shapes, ids, and what their coordinates mean. The door is `read.load_regions`."""
