"""What can be done instead of a release that would single people out: the regions of an earlier one, used or joined."""

from __future__ import annotations

from PySide6.QtCore import QObject

from vbas_desktop.jobs.ledger import Earlier, ReuseJob
from vbas_desktop.release.ledger import Entry
from vbas_desktop.session.earlier import as_then

from .context import Context
from .controller import Controller


class EarlierRegions(QObject):
    """Reads how the earlier release was made, then runs it on the records of now or opens it as data."""

    def __init__(self, context: Context, controller: Controller) -> None:
        super().__init__(controller)
        self._context, self._controller = context, controller

    def use(self, entry: Entry, join: bool) -> None:
        """Make its regions once more; to ``join`` them, open what was handed over."""
        then = self._on_join if join else self._on_reuse
        self._context.runner.start("Reading the earlier release", ReuseJob(entry).execute, then)

    def _on_reuse(self, earlier: Earlier) -> None:
        self._context.session.change(as_then(self._context.session.choices, earlier))
        self._controller.reload_and_run()
        self._context.say(
            f"Making the regions of {earlier.entry.title} once more. Whatever columns of it are exported tell nothing "
            "new; who came and went in other records is compared again."
        )

    def _on_join(self, earlier: Earlier) -> None:
        if earlier.records is None or not earlier.regions.is_file():
            self._context.say(f"The files of {earlier.entry.title} are not there any more.")
            return
        self._controller.load_guarded(earlier.records, earlier.regions)
        self._context.say(
            f"{earlier.entry.title[:1].upper()}{earlier.entry.title[1:]} is the data now: whatever is made from it "
            "tells nothing else. Run with fewer sites to join its regions."
        )
