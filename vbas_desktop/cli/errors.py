"""Outcomes with an exit code of their own."""


class VerificationFailed(Exception):
    """The result did not pass its own verification; nothing was left at the target."""


class UsageError(Exception):
    """The options do not fit together; the message says which and what would."""
