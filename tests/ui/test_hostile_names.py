"""Names from files are shown as they are: no label or tool tip takes them for HTML, and none hides what it says."""

from __future__ import annotations

import ast
import csv
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QEvent, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtGui import Qt as RichText
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QGroupBox,
    QLabel,
    QMenu,
    QTabBar,
    QTextEdit,
    QToolTip,
    QWidget,
)
from tour import EXAMPLES, Shown, Tour

import vbas_desktop.ui
from vbas_desktop.model.criteria import Criterion, SensitiveColumn
from vbas_desktop.model.records import Role
from vbas_desktop.model.text import escape_controls
from vbas_desktop.releases.ledger import read_ledger
from vbas_desktop.ui.dialogs.export import ExportDialog
from vbas_desktop.ui.dialogs.handover import RecordDialog, ReleaseDone
from vbas_desktop.ui.dialogs.messages import ask_which_audience, show_failure
from vbas_desktop.ui.dialogs.release_target import find_ledger
from vbas_desktop.ui.map.hover_card import HoverCard
from vbas_desktop.ui.presentation.messages import TaskFailure
from vbas_desktop.ui.widgets.table_actions import save_rows

OBEYED = "\x1b]0;title\x07", "\u202egpj"
"""What a terminal obeys, and what turns the letters behind it around."""

POLICY = """format = 1
id = "ours"
name = "{name}"
authority = "{name}"
citation = "<b>law</b>"
date = "2024-05-31"
source = "<b>What</b> it asks for."

[[criteria]]
measure = "smallest_class"
of = "records"
comparison = "at least"
threshold = 5
note = "{name}"

[[criteria]]
question = "{name}?"
"""

TIP = Qt.ItemDataRole.ToolTipRole
MOST_ROWS = 200
PICTURE = re.compile(r'<img [^>]*src="[^"]*(pipe|/dev/zero)')


@pytest.fixture
def pipe(tmp_path):
    """A pipe; whoever opens it to read leaves a file ``opened`` beside it, and is not kept waiting."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    script = 'while : > "$1"; do : > "$2"; done'
    writer = subprocess.Popen(["sh", "-c", script, "sh", str(path), str(tmp_path / "opened")])
    yield path
    writer.kill()
    writer.wait()


def image(pipe: Path, name: str) -> str:
    return f'<img src="{pipe}">{name}'


def write_table(path: Path, rows: list[list[str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


def write_hostile_data(folder: Path, pipe: Path) -> tuple[Path, Path]:
    """Records and regions whose columns, categories, ids, names and files are called so that they do harm."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    ids = [f"<b>R{number:02d}</b>{OBEYED[number % 2]}" for number in range(40)]
    places = rng.random((40, 2)) * 1000
    regions = [["id", "x", "y", "<i>name</i>"]]
    regions += [
        [id, f"{x:.1f}", f"{y:.1f}", image(pipe, id)] for id, (x, y) in zip(ids, places, strict=True)
    ]
    ages = [image(pipe, f"{age}") for age in range(4)]
    sexes = ["<b>x</b>", "&amp;"]
    illnesses = [f"{name}{number}" for name in OBEYED for number in range(3)]
    records = [
        ["person", image(pipe, "age"), f"<b>sex</b>{OBEYED[1]}", f"<b>ill</b>{OBEYED[0]}", "tract"]
    ]
    for number in range(2000):
        values = [rng.choice(ages), rng.choice(sexes), rng.choice(illnesses), rng.choice(ids)]
        records.append([f"P{number:06d}", *map(str, values)])
    return (
        write_table(folder / "<b>records<b>\u202e.csv", records),
        write_table(folder / "<b>regions<b>.csv", regions),
    )


def write_hostile_examples(folder: Path, pipe: Path) -> Path:
    """The examples with other names of columns and values."""
    folder.mkdir()
    for name in ("clients", "people", "slots"):
        with (EXAMPLES / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            head, *rows = list(csv.reader(file))
        known = {"id", "postcode", "centre", "time", "capacity"}
        head = [text if text.casefold() in known else image(pipe, text) + OBEYED[1] for text in head]
        rows = [[row[0], f"<b>{row[1]}</b>{OBEYED[0]}", *row[2:]] for row in rows]
        write_table(folder / f"{name}.csv", [head, *rows])
    return folder


# What is wrong with what is shown


TAGS = re.compile(r"<(img|i|b)\b")


def wrong_label(label: QLabel) -> str:
    rich = label.textFormat() is Qt.TextFormat.RichText and not isinstance(label, HoverCard)
    guessed = (
        label.textFormat() is Qt.TextFormat.AutoText
        and label.text()
        and not label.objectName().startswith("qt_")
    )
    interpreted = isinstance(label, HoverCard) and PICTURE.search(label.text())
    return f"label {label.text()!r}" if rich or guessed or interpreted else ""


def wrong_tip(tip: object) -> str:
    return (
        f"tip {tip!r}"
        if isinstance(tip, str) and RichText.mightBeRichText(tip) and TAGS.search(tip)
        else ""
    )


def obeyed(text: object) -> str:
    shown = isinstance(text, str) and any(letter in text for letter in "\x1b\x07\u202e")
    return f"obeyed {text!r}" if shown else ""


def wrong_cells(model: QAbstractItemModel) -> list[str]:
    found = []
    # A list of Qt's own has one column, and does not say so.
    columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount()
    for column in range(columns):
        for role in (TIP, Qt.ItemDataRole.DisplayRole):
            text = model.headerData(column, Qt.Orientation.Horizontal, role)
            found += [wrong_tip(text) if role == TIP else "", obeyed(text)]
        for row in range(min(model.rowCount(), MOST_ROWS)):
            index = model.index(row, column)
            found += [wrong_tip(index.data(TIP)), obeyed(index.data(TIP))]
            if not index.flags() & Qt.ItemFlag.ItemIsEditable:
                found.append(obeyed(index.data()))
    return found


def wrong_in(root: QWidget) -> set[str]:
    """All that is wrong in a window and whatever is in it, in sight or not."""
    found = []
    for widget in [root, *root.findChildren(QWidget)]:
        found += [wrong_tip(widget.toolTip()), obeyed(widget.toolTip()), obeyed(widget.windowTitle())]
        if isinstance(widget, QLabel):
            found += [wrong_label(widget), obeyed(widget.text())]
        if isinstance(widget, QAbstractButton):
            found.append(obeyed(widget.text()))
        if isinstance(widget, QGroupBox | QMenu):
            found.append(obeyed(widget.title()))
        if isinstance(widget, QTabBar):
            found += [obeyed(widget.tabText(tab)) for tab in range(widget.count())]
        if isinstance(widget, QTextEdit) and PICTURE.search(widget.toHtml()):
            found.append(f"picture in {widget.toPlainText()[:40]!r}")
        if isinstance(widget, QAbstractItemView | QComboBox) and widget.model() is not None:
            found += wrong_cells(widget.model())
        for action in widget.actions():
            found += [obeyed(action.toolTip()), obeyed(action.text())]
            # Most menus show no tips; an action without one says that its text is the tip.
            if not isinstance(widget, QMenu) or widget.toolTipsVisible():
                found.append(wrong_tip(action.toolTip()))
    return set(filter(None, found))


class HostileTour(Tour):
    """A tour with a sensitive column, a policy of one's own and an audience in the ledger, all with hostile names."""

    audience = f'<img src="/dev/zero">Uni{OBEYED[1]}'

    def _load(self) -> None:
        super()._load()
        self._rest()
        state = self.window.state
        age, sex, illness = (facts.name for facts in state.table.columns[1:4])
        choices = state.choices.with_quasi_identifiers((age, sex)).with_role(illness, Role.SENSITIVE)
        state.change(
            choices.with_sensitive(
                SensitiveColumn(illness, (), (Criterion("share", 90.0, 0.0, illness),))
            )
        )
        policy = self.folder / "<b>ours\u202e.toml"
        text = POLICY.format(name=self.audience.replace('"', "'"))
        policy.write_text(text, encoding="utf-8")
        state.set_policy_notes(state.policy.with_policy(policy=str(policy)))

    def _releasing(self) -> Iterator[Shown]:
        window = self.window
        window.exporting.export()
        dialog = window.findChild(ExportDialog)
        dialog.target.edit.setText(str(self.folder / "<b>release\u202e"))
        dialog.recipient.editors["audience"].setText(self.audience)
        self._rest()
        yield "export", dialog
        self._until_idle(dialog.export.click)
        done = window.findChild(ReleaseDone)
        yield "released", done
        done.record_requested.emit()
        self._rest()
        record = window.findChild(RecordDialog)
        yield "record as handed over", record
        self._until_idle(record.record.click)
        done.close()
        page = self._page("Releases")
        yield "releases", page
        page.table.selectRow(0)
        page.audience.setText(self.audience)
        self._until_idle(page._on_check)
        yield "compared with releases", page
        page._on_extract()
        yield from self._dialog("only columns")
        ask_which_audience(window, self.audience, f"The {self.audience}", int, int)
        yield from self._dialog("similar audience")
        show_failure(window, TaskFailure(f"Loading {self.audience}", self.audience, (), self.audience))
        yield from self._dialog("failure")


def hover(widget: QWidget) -> str:
    """Let the pointer rest on a widget; the tip that appears."""
    place = widget.rect().center()
    QApplication.sendEvent(widget, QHelpEvent(QEvent.Type.ToolTip, place, widget.mapToGlobal(place)))
    QApplication.processEvents()
    return QToolTip.text()


def test_names_are_plain_text_on_every_page_and_in_every_dialog(window, tmp_path, pipe):
    data = write_hostile_data(tmp_path / "<b>data", pipe)
    examples = write_hostile_examples(tmp_path / "examples", pipe)
    wrong: dict[str, str] = {}
    stops: list[str] = []
    for stop, widget in HostileTour(window, tmp_path, data, examples, image(pipe, "age")).stops():
        QApplication.processEvents()
        stops.append(stop)
        for root in {window, widget.window()}:
            for each in wrong_in(root):
                wrong.setdefault(each, stop)
    assert not wrong, "\n".join(f"{stop}: {each}" for each, stop in wrong.items())
    assert len(stops) > 60
    assert [entry.audience for entry in read_ledger(find_ledger(window.state))] == [HostileTour.audience]
    assert not (tmp_path / "opened").exists()


def test_hovering_opens_no_file(window, tmp_path, pipe, qtbot):
    """The label “Sensitive:” would open it without hovering."""
    tour = HostileTour(window, tmp_path, write_hostile_data(tmp_path / "data", pipe))
    tour._until_idle(tour._load)
    section, columns = window.input.privacy, window.input.columns
    assert section.sensitive_summary.isVisibleTo(window)
    assert "Sensitive: <b>ill</b>\\u001b]0;title\\u0007" in section.sensitive_summary.text()
    assert section.sensitive_summary.textFormat() is Qt.TextFormat.PlainText
    index = columns.model.index(1, 0)
    assert index.data() == image(pipe, "age")
    place = columns.view.visualRect(index).center()
    viewport = columns.view.viewport()
    QApplication.sendEvent(viewport, QHelpEvent(QEvent.Type.ToolTip, place, viewport.mapToGlobal(place)))
    QApplication.processEvents()
    assert QToolTip.text().startswith('<p>&lt;img src="')
    QToolTip.hideText()
    assert hover(window.input.files.records.name) == RichText.convertFromPlainText(
        escape_controls(str(window.state.records_path))
    )
    window.grab()
    assert not (tmp_path / "opened").exists()


def test_the_map_tells_of_a_region_in_plain_text(window, tmp_path, pipe):
    """The card beside the pointer is made of HTML by the program itself."""
    tour = HostileTour(window, tmp_path, write_hostile_data(tmp_path / "data", pipe))
    tour._until_idle(tour._load)
    canvas = window.area.map.canvas
    canvas.region_hovered.emit(None, 0, *canvas.base.points[0].tolist())
    assert "Initial region &lt;b&gt;R00&lt;/b&gt;\\u001b]0;title\\u0007" in canvas.hover_card.text()
    assert not (tmp_path / "opened").exists()


def test_a_saved_table_holds_no_formulas(window, tmp_path, qtbot):
    rows = [["=column", "records"], ["@value", "-5"], ["value", "-A1"]]
    with qtbot.waitSignal(window.worker.job_ended, timeout=60_000):
        save_rows(window.context, "Saving the table", rows, tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text() == "'=column,records\n'@value,-5\nvalue,'-A1\n"


def test_only_one_module_makes_labels_and_tool_tips():
    """Everything else uses its functions, which show names as plain text."""
    root = Path(vbas_desktop.ui.__file__).parent
    allowed = {root / "widgets" / "plain_text.py"}
    rich = "map/hover_card.py: setTextFormat"
    found = set()
    for path in sorted(set(root.rglob("*.py")) - allowed):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if name in ("QLabel", "setToolTip", "QWhatsThis", "setTextFormat"):
                found.add(f"{path.relative_to(root)}: {name}")
    assert found == {rich}
