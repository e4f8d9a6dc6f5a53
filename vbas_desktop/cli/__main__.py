"""``python -m vbas_desktop.cli`` is `vbas`."""

from .start import start

start()
