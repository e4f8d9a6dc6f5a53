"""Outcomes with an exit code of their own."""

from vbas_desktop.domain.errors import VerificationFailed

__all__ = ["UsageError", "VerificationFailed"]


class UsageError(Exception):
    """The options do not fit together; the message says which and what would."""
