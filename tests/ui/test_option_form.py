"""Forms are made from declared options: every option that a run needs has a field in the window."""

from __future__ import annotations

from typing import ClassVar, Literal

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QSpinBox, QWidget

from vbas_desktop.settings.codecs import TextList
from vbas_desktop.settings.constraints import RegionConstraints
from vbas_desktop.settings.option import OptionGroup, option
from vbas_desktop.settings.reading import ReadingSettings
from vbas_desktop.settings.run import PrivacySettings, SweepSettings
from vbas_desktop.ui.widgets.option_form import OptionForm

ELSEWHERE = {"pareto_measures"}
"""Options that are chosen elsewhere: the measures that decide about dominance, in Results."""

GROUPS = (PrivacySettings, SweepSettings, ReadingSettings, RegionConstraints)


class Example(OptionGroup):
    """One option of each kind."""

    title: ClassVar[str] = "Example"

    is_on: bool = option(False, label="Switch", help="On or off.")
    number: int = option(3, label="Number", help="A number.", ge=1, soft_max=50)
    least: int | None = option(None, label="Least", help="At least so many.", ge=1)
    share: float = option(
        5.0, label="Share", help="A share.", gt=0, unit="%", enabled_when=("is_on", bool)
    )
    kind: Literal["a", "b"] = option(
        "a", label="Kind", help="A or b.", titles={"a": "First", "b": "Second"}
    )
    column: str | None = option(None, label="Column", help="A column.", choices_from="columns")
    files: TextList = option((), label="Files", help="Files.")


@pytest.fixture
def form(qtbot):
    form = OptionForm(Example)
    qtbot.addWidget(form)
    form.show()
    form.show_group(Example(), {"columns": ("county", "state")})
    return form


@pytest.fixture
def edits(form):
    edits = []
    form.edited.connect(lambda name, value: edits.append((name, value)))
    return edits


def test_every_option_has_an_editor_with_label_tip_and_bounds(form):
    assert list(form.editors) == [each.name for each in Example.options()]
    for each in Example.options():
        editor = form.editors[each.name]
        assert each.title in (editor.accessibleName(), getattr(editor, "text", str)())
        assert each.help.removesuffix(".") in editor.toolTip()
    number, least = form.editors["number"], form.editors["least"]
    assert (number.minimum(), number.maximum()) == (1, 50)
    assert (least.minimum(), least.text()) == (0, "Any")
    assert form.editors["share"].suffix() == " %"
    assert form.editors["share"].minimum() > 0


def test_what_is_shown_is_not_what_was_edited(form, edits):
    form.show_group(
        Example(is_on=True, number=7, least=2, kind="b", column="state", files=("a.csv", "b.csv"))
    )
    assert edits == []
    assert form.editors["is_on"].isChecked()
    assert form.editors["number"].value() == 7
    assert form.editors["least"].value() == 2
    assert form.editors["kind"].currentText() == "Second"
    assert form.editors["column"].currentData() == "state"
    assert form.editors["files"].text() == "a.csv; b.csv"


def test_what_is_entered_is_told_as_a_value_of_the_option(form, edits, qtbot):
    form.editors["is_on"].click()
    form.editors["number"].setValue(4)
    form.editors["least"].setValue(1)
    form.editors["least"].setValue(0)
    for name, position in (("kind", 1), ("column", 2)):
        form.editors[name].setCurrentIndex(position)
        form.editors[name].activated.emit(position)
    form.editors["files"].setText("x.csv;y.csv ")
    qtbot.keyClick(form.editors["files"], Qt.Key.Key_Return)
    assert edits == [
        ("is_on", True),
        ("number", 4),
        ("least", 1),
        ("least", None),
        ("kind", "b"),
        ("column", "state"),
        ("files", ("x.csv", "y.csv")),
    ]


def test_what_is_wrong_is_in_the_description_for_assistive_technology(form):
    editor = form.editors["number"]
    form.show_error("number", "It is too large.")
    assert editor.accessibleDescription() == "It is too large."
    form.show_error("number", "")
    assert editor.accessibleDescription() == "A number"


def test_an_option_without_effect_is_disabled(form):
    assert not form.editors["share"].isEnabled()
    form.show_group(Example(is_on=True))
    assert form.editors["share"].isEnabled()


def test_a_form_of_some_options_has_them_in_the_order_of_their_names(qtbot):
    form = OptionForm(Example, names=("number", "is_on"))
    qtbot.addWidget(form)
    assert list(form.editors) == ["number", "is_on"]


def test_a_form_without_some_options_has_all_others_behind_the_first(qtbot):
    form = OptionForm(Example, first=("kind",), without=("number", "least", "files"))
    qtbot.addWidget(form)
    assert list(form.editors) == ["kind", "is_on", "share", "column"]


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.title)
def test_every_option_of_a_run_has_a_field_in_the_window(group, window):
    named = {widget.accessibleName() for widget in window.input.findChildren(QWidget)}
    named |= {box.text().replace("&", "") for box in window.input.findChildren(QCheckBox)}
    missing = [
        each.name for each in group.options() if each.name not in ELSEWHERE and each.title not in named
    ]
    assert missing == []


def test_the_window_edits_the_state_by_the_declared_options(loaded_window):
    privacy, approaches = loaded_window.input.privacy.form, loaded_window.input.approaches.range
    box, step = privacy.editors["k"], approaches.editors["range_step_percent"]
    assert isinstance(box, QSpinBox)
    box.setValue(9)
    step.setValue(20.0)
    suppression = loaded_window.input.approaches.suppression
    unknown = suppression.editors["unknown_regions"]
    assert isinstance(unknown, QComboBox)
    unknown.setCurrentIndex(unknown.findData("suppress"))
    unknown.activated.emit(unknown.currentIndex())
    suppression.editors["global_suppression"].click()
    chosen = loaded_window.state.choices
    assert (chosen.k, chosen.range_step_percent, chosen.unknown_regions) == (9, 20.0, "suppress")
    assert not chosen.global_suppression
    approaches.editors["range_reach"].setValue(0)
    assert not step.isEnabled(), "there is only one number of sites"
