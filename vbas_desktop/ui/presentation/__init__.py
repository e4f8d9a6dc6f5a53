"""What the window shows, computed without Qt: map scenes, table rows, texts."""
