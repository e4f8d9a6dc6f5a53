"""``python -m vbas_desktop.cli`` is `vbas`."""

import sys

from .main import run_program

sys.exit(run_program())
