"""Finding a release: how coarse each attribute must be for how fine a place, at one protection and one allowed loss.

May use engine and files, and neither comparison, assessment nor screening.
"""
