"""What a release is worth to a researcher: how its classes differ from those of the original file."""
