"""``python -m vbas_desktop.cli`` is `vbas`."""

import sys

from .main import main

sys.exit(main())
