"""Put rows into a random order on their way into a file, so that it tells nothing of where they stood."""

from __future__ import annotations

import hashlib
import marshal
import random
import secrets
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path
from typing import Any

HELD_ROWS = 1 << 18
"""Rows that are held in memory; more go through nameless files, which nobody else can open."""

_FILES = 64


def create_random(seed: str | None, *content: object) -> random.Random:
    """Make a generator from a fresh secret; with a seed, the same generator for the same content."""
    if seed is None:
        return random.SystemRandom()
    return random.Random(hashlib.sha512(repr((seed, *content)).encode()).digest())


def derive_key(seed: str | None, *content: object) -> bytes:
    """Make the secret that keys of records come from; with a seed, the same for the same content.

    It is not drawn from `create_random`, so that the order of the rows reveals nothing of it.
    """
    if seed is None:
        return secrets.token_bytes(64)
    return hashlib.sha512(repr(("record keys", seed, *content)).encode()).digest()


def shuffle_rows(rows: Iterable[Any], folder: Path, draw: random.Random) -> Iterator[Any]:
    """Yield the rows in random order, every order being equally likely; ``folder`` takes the nameless files."""
    left = iter(rows)
    held = list(islice(left, HELD_ROWS))
    if len(held) < HELD_ROWS:
        draw.shuffle(held)
        yield from held
        return
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile(dir=folder)) for _ in range(_FILES)]
        for row in chain(held, left):
            marshal.dump(row, files[draw.randrange(_FILES)])
        for file in files:
            file.seek(0)
            part = list(_load_rows(file))
            draw.shuffle(part)
            yield from part


def _load_rows(file: Any) -> Iterator[Any]:
    while True:
        try:
            yield marshal.load(file)
        except EOFError:
            return
