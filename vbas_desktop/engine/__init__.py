"""Runs the chosen approaches on a problem. Knows no files and no window; tells a `Progress` how far it is."""
