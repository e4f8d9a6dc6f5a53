"""The part of the session that knows which files are read and how, also those that could not be read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from .choices import Choices
from .events import Event
from .orders import LoadOrder
from .papers import Papers


class Loading(Papers):
    """Choices belong to the loaded files; what could not be read has reading options of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.records_path: Path | None = None
        self.regions_path: Path | None = None
        self.unread: LoadOrder | None = None

    def change(self, choices: Choices, merge: str | None = None) -> None:
        """Put other choices in force; consecutive changes with the same ``merge`` name are one step of undo."""
        if self._history.change(choices, merge):
            self.modified = True
            self._tell(Event.CHOICES_CHANGED)

    def change_fields(self, merge: str | None = None, **values: Any) -> None:
        """Put other values of some choices in force."""
        self.change(replace(self.choices, **values), merge)

    def order_load(self, records: Path, regions: Path, fresh: bool = False) -> LoadOrder:
        """What a thread needs to know to load these two files.

        The files that are loaded are read with the choices in force, unless they shall begin ``fresh``; others begin
        with the usual ones: what was chosen for one data set says nothing about the next.
        """
        same = (records, regions) == (self.records_path, self.regions_path)
        return LoadOrder(records, regions, self.choices if same and not fresh else Choices())

    def order_reading_again(self) -> LoadOrder | None:
        """Read the files that could not be read, or else those that are loaded, with their own reading options."""
        if self.unread is not None:
            return self.unread
        if self.records_path is None or self.regions_path is None:
            return None
        return self.order_load(self.records_path, self.regions_path)

    def refuse_data(self, order: LoadOrder) -> None:
        """These files could not be read: what is said about their reading from now on is about them."""
        self.unread = order
        self._tell(Event.CHOICES_CHANGED)

    def forget_unread(self) -> None:
        """The user went on with something else: reading options are those of the loaded files again."""
        if self.unread is not None:
            self.unread = None
            self._tell(Event.CHOICES_CHANGED)

    @property
    def read_with(self) -> Choices:
        """The choices whose reading options are shown: those of the files that could not be read, if there are any."""
        return self.choices if self.unread is None else self.unread.choices

    def change_reading(self, **values: Any) -> None:
        """Say how the files are read: those that could not be read so far, or else those that are loaded."""
        if self.unread is None:
            self.change_fields(**values)
            return
        self.unread = replace(self.unread, choices=replace(self.unread.choices, **values))
        self._tell(Event.CHOICES_CHANGED)
