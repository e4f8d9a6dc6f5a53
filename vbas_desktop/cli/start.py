"""The entry point of `vbas` in the shell: obeys a stop from the first moment, before anything large is imported.

Only the standard library is imported at the top, and little of it.
"""

from __future__ import annotations

import os
import signal
import sys

STOPPED = "Stopped. Nothing half-written was left behind."
CANCELLED = 130


def start() -> None:
    """Prepare the process, which is ours alone, import the program and run it."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop_at_once)
    _open_closed_streams()
    from .main import run_program

    try:
        signal.signal(signal.SIGINT, usual)
        run_program()
    except KeyboardInterrupt:
        _stop_at_once()


def _stop_at_once(*_: object) -> None:
    """End while the program is still being imported: nothing has been made, so there is nothing to clean up."""
    try:
        os.write(2, f"{STOPPED}\n".encode())
    finally:
        os._exit(CANCELLED)


def _open_closed_streams() -> None:
    """Open what the shell closed (`>&-`): the next file would get its number, and be written to by mistake."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is the one that was closed.
            os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))
