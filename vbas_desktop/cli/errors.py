"""Outcomes with an exit code of their own."""


class VerificationFailed(Exception):
    """The result did not pass its own verification; nothing was left at the target."""
