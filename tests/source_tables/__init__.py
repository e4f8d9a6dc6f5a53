"""The page docs/sources-of-the-methods.md: published tables beside those that the program computes."""
