"""The program `vbas`, also as ``python -m vbas_desktop.cli``.

Only the standard library is imported at the top: a stop is obeyed from the first moment.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command of this process and return its exit code; stopped while modules are imported, 130."""
    try:
        from .main import run_program

        return run_program()
    except KeyboardInterrupt:
        sys.stderr.write("Stopped. Nothing half-written was left behind.\n")
        return 130


if __name__ == "__main__":
    sys.exit(main())
