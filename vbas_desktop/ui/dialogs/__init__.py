"""Dialogs. None of them blocks: each is opened, and says through a signal or callback what the user decided."""
