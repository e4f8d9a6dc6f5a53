"""The page “Compare combinations”: what is ticked, what it makes, and what came of it."""
