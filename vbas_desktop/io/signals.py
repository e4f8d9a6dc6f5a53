"""Stop because of a signal (Ctrl-C, ``kill``, a closed terminal), and when that is too late.

A stop raises `KeyboardInterrupt` in the main thread wherever that is. Two things must not be torn: putting a result in
place, and removing what is left of one. And once a result is in place, a stop no longer undoes anything: whoever ends
the program asks `recorded_outputs` and says so.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_NUMBERS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
_placed: list[Path] = []


@contextmanager
def handle_stop_signals(to_the_end: bool) -> Iterator[None]:
    """Within the block a process that is asked to end cleans up like one that is stopped.

    ``to_the_end``: the program ends after the block, so that a stop which comes later finds nothing to stop.
    """
    _placed.clear()
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        # Whoever started us with a signal ignored (nohup) means it.
        heard = (signal.SIG_DFL, signal.default_int_handler)
        before = {
            number: handler for number in _NUMBERS if (handler := signal.getsignal(number)) in heard
        }
    try:
        _handle(dict.fromkeys(before, signal.default_int_handler))
        yield
    finally:
        _handle(dict.fromkeys(before, signal.SIG_IGN) if to_the_end else before)


@contextmanager
def defer_stop_signals() -> Iterator[None]:
    """Let the block end before a stop takes effect."""
    came: list[int] = []
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        heard = [number for number in _NUMBERS if signal.getsignal(number) is signal.default_int_handler]
        before = dict.fromkeys(heard, signal.default_int_handler)
    try:
        _handle(dict.fromkeys(before, lambda number, _: came.append(number)))
        yield
    finally:
        _handle(before)
        if came:
            raise KeyboardInterrupt


def record_output(target: Path) -> None:
    """Remember that a result is complete at its target."""
    _placed.append(target)


def recorded_outputs() -> tuple[Path, ...]:
    """List what the command has put in place so far."""
    return tuple(_placed)


def _handle(handlers: dict[int, Any]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
