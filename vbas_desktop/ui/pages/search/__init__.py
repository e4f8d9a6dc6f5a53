"""Find a release: the finest place for every combination of attribute levels."""
