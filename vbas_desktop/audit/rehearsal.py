"""A few made-up rows counted once, so that the loops of counting a written file are compiled before they are needed."""

from __future__ import annotations

import io

from .blocks import Table, blocks_of
from .values import Values


def rehearse() -> None:
    """Cut rows as they are, and number more values than there is room for at first."""
    text = "a,b\n" + "".join(f"{i},{i}\n" for i in range(300))
    for block in blocks_of(io.BytesIO(text.encode()), Table(",", 2, [0], 1)):
        Values().codes(block[0])
