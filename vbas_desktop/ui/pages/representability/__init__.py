"""The pages on what a release is worth: Representability, Requirements, Policy."""
