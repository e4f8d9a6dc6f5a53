"""Where data came from."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass

from .errors import InputError
from .progress import Progress

_LOOK_EVERY = 0.1


class Digest:
    """The SHA-256 of a file as hexadecimal text. Of a large file it may still be on its way: `str` waits for it."""

    def __init__(self, value: str | Future[str]) -> None:
        self._value = value

    @property
    def known(self) -> bool:
        """Whether it can be had without waiting."""
        return isinstance(self._value, str) or self._value.done()

    @property
    def settled(self) -> str | None:
        """The text if it can be had without waiting; None too if the file is not what was read any more."""
        return self._text() if self.known else None

    def wait(self, progress: Progress) -> None:
        """Wait until it is known; raises what was found instead, if the file is not what was read any more."""
        while not isinstance(self._value, str):
            progress.update("Hashing the records")
            if wait((self._value,), _LOOK_EVERY).done:
                self._value.result()
                return

    def __str__(self) -> str:
        return self._value if isinstance(self._value, str) else self._value.result()

    def __repr__(self) -> str:
        return f"Digest({self.settled!r})" if self.known else "Digest(on its way)"

    def __eq__(self, other: object) -> bool:
        """Waits for both. What has no hash because its file was changed is like nothing else."""
        if self is other or not isinstance(other, Digest):
            return self is other
        mine, others = self._text(), other._text()
        return mine is not None and mine == others

    def __hash__(self) -> int:
        return hash(self._text())

    def _text(self) -> str | None:
        try:
            return str(self)
        except InputError:
            return None


def wait_for_all(digests: Iterable[Digest], progress: Progress) -> None:
    """Wait until it is known of all of them what they are, or that their file was changed."""
    for digest in digests:
        with suppress(InputError):
            digest.wait(progress)


@dataclass(frozen=True, init=False)
class Source:
    """Which file something came from: enough to find it again and to notice that it changed."""

    path: str
    size_bytes: int
    digest: Digest

    def __init__(self, path: str, size_bytes: int, digest: Digest | str) -> None:
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "size_bytes", size_bytes)
        object.__setattr__(self, "digest", Digest(digest) if isinstance(digest, str) else digest)

    @property
    def sha256(self) -> str:
        """The SHA-256 of its bytes; waits if it is not known yet."""
        return str(self.digest)
