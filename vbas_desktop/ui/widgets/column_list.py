"""Lists to choose from that stay narrow: of declared choices, and of names that a file has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from PySide6.QtWidgets import QComboBox


def narrow_list(titles: Mapping[str | None, str] | None = None) -> QComboBox:
    """A list that need not show its longest entry in full while it is closed."""
    combo = QComboBox()
    make_narrow(combo)
    for value, text in (titles or {}).items():
        combo.addItem(text, value)
    return combo


def make_narrow(combo: QComboBox) -> None:
    """The same for one that is there."""
    combo.setMinimumContentsLength(8)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)


class ColumnList(QComboBox):
    """One name of a file, or none of them, which ``nothing`` says in words. A name that the file lacks stays chosen
    until somebody chooses another: it is told as missing.
    """

    def __init__(self, nothing: str) -> None:
        super().__init__()
        make_narrow(self)
        self._nothing = nothing
        self.offer(())

    def offer(self, names: Iterable[str]) -> None:
        """The names that can be chosen; what is chosen stays."""
        chosen = self.chosen
        self.clear()
        self.addItem(self._nothing, None)
        for name in dict.fromkeys(names):
            self.addItem(name, name)
        self.choose(chosen)

    @property
    def chosen(self) -> str | None:
        """The chosen name."""
        name: str | None = self.currentData()
        return name

    def choose(self, name: str | None) -> None:
        """Show a name as chosen."""
        if name is not None and self.findData(name) < 0:
            self.addItem(f"{name} (not in the file)" if self.count() > 1 else name, name)
        self.setCurrentIndex(max(0, self.findData(name)))
