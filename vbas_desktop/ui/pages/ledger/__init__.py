"""The page Releases: what was handed to whom, and how the shown solution fares beside it."""
