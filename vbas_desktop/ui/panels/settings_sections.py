"""The settings of a run: protection and allowed loss in sight, approaches and limits where they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QPushButton, QSpinBox, QWidget

from vbas_desktop.approaches.registry import list_approaches
from vbas_desktop.engine.constraints import check_constraints
from vbas_desktop.io.documents.policies import find_policy, load_bundled_policies
from vbas_desktop.model.criteria import SensitiveColumn
from vbas_desktop.model.policies import Policy
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import ColumnFacts
from vbas_desktop.settings.constraints import RegionConstraints
from vbas_desktop.settings.run import COMPONENTS, PrivacySettings, SweepSettings

from ..core.context import UiContext
from ..core.theme import GRID
from ..dialogs.messages import ask_question
from ..dialogs.sensitive_values import SensitiveDialog
from ..state.app_state import AppState
from ..state.choices import describe_approaches
from ..state.policy_choice import describe_fit, explain_k_below, fit_choices
from ..state.scenario import reason_against_k
from ..widgets.column_picker import narrow_combo_box
from ..widgets.fields import (
    CollapsibleSection,
    Field,
    heading_label,
    hint_label,
    message_label,
    set_variant,
)
from ..widgets.file_dialogs import POLICY_FILES, ask_to_open
from ..widgets.layouts import hbox, set_items, vbox, with_properties
from ..widgets.option_form import OptionForm
from ..widgets.parameters import ParameterField, ParameterForm
from ..widgets.plain_text import set_tool_tip

_LABELS = {
    "site_number": "Number of sites",
    "site_location": "Locations of the sites",
    "construction": "Construction of the regions",
    "refinement": "Refinement of the regions",
    "tiers": "Fallback to larger areas",
}

_FIRST_CONSTRAINTS = (
    "within",
    "centre_weights",
    "alone",
    "alone_column",
    "min_records",
    "max_records",
    "min_population",
    "max_population",
)
"""In pairs, side by side; the other constraints follow."""

_PROTECTION = ("k",)
_CHOSEN_IN_RESULTS = ("pareto_measures",)

LOSS = ("site_number", "limit", "allowed_loss_percent")
"""The allowed loss stands under Protection, not among the parameters of its approach."""

_NO_POLICY = "None: choose k yourself"
_OPEN_POLICY = "Own policy…"

_TOP = Qt.AlignmentFlag.AlignTop


class ProtectionSection(QWidget):
    """A policy or k, the allowed loss, and criteria for sensitive values.

    `policy_read()`: the policy in a file is known now.
    """

    policy_read = Signal()

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self._context = context
        self._state = context.state
        self._files: dict[str, Policy] = {}
        """Policies that were read from files, by their names in the state."""
        self.policy_list = narrow_combo_box()
        self.policy_list.activated.connect(self._on_policy_chosen)
        context.model.policy_changed.connect(self._refresh_policy)
        about_policy = "Sets k and the minima that it demands, after asking; releases are judged by it"
        policy = Field("Policy", self.policy_list, about_policy)
        self.form = OptionForm(PrivacySettings, columns=1, names=_PROTECTION)
        self.form.edited.connect(self._on_edited)
        component, approach, name = LOSS
        self.loss = ParameterField(
            list_approaches(component)[approach].option(name), component, approach
        )
        self.loss.edited.connect(self._on_loss_edited)
        self.sensitive = QPushButton("Sensitive values…")
        self.sensitive_summary = hint_label()
        set_tool_tip(
            self.sensitive,
            "What released classes may tell of columns that must not be learned about a person",
        )
        self.sensitive.clicked.connect(self.open_sensitive)
        self._refresh_policy()
        vbox(
            heading_label("Protection"),
            policy,
            hbox((self.form, 1, _TOP), (self.loss, 1, _TOP), spacing=2 * GRID),
            hbox((self.sensitive_summary, 1), (self.sensitive, 0, _TOP)),
            within=self,
            margins=0,
            spacing=GRID // 2,
        )

    def refresh(self) -> None:
        """Show what is chosen."""
        chosen = self._state.choices
        self.form.show_group(chosen)
        wrong = reason_against_k(self._state.table, chosen.k) or explain_k_below(self.policy, chosen.k)
        self.form.show_error("k", wrong)
        component, approach, name = LOSS
        self.loss.show_value(
            chosen.values_of(component, approach).get(name, chosen.allowed_loss_percent)
        )
        columns = self._list_usable()
        for widget in (self.sensitive, self.sensitive_summary):
            widget.setVisible(bool(columns))
        words = "; ".join(_describe_sensitive(column) for _, column in columns)
        self.sensitive_summary.setText(f"Sensitive: {words}.")

    # The policy

    @property
    def policy(self) -> Policy | None:
        """The policy in force; None without one, and until its file is read."""
        name = self._state.policy.policy
        return load_bundled_policies().get(name) or self._files.get(name)

    @Slot()
    def _refresh_policy(self) -> None:
        name = self._state.policy.policy
        bundled = load_bundled_policies()
        entries = [
            (_NO_POLICY, "", ""),
            *((item.name, item.id, item.origin) for item in bundled.values()),
        ]
        if name and name not in bundled:
            entries.append((Path(name).name, name, name))
            if name not in self._files:
                self._read_policy(name, self._on_file_read)
        set_items(
            self.policy_list, [*entries, (_OPEN_POLICY, _OPEN_POLICY, "Follow a policy of your own")]
        )
        self.policy_list.setCurrentIndex(self.policy_list.findData(name))
        self.refresh()

    def _read_policy(self, name: str, then: Callable[[str, Policy], None]) -> None:
        work = partial(_read_policy, name)
        self._context.background.start_latest(self, "Reading the policy", work, partial(then, name))

    def _on_file_read(self, name: str, policy: Policy) -> None:
        self._files[name] = policy
        self.refresh()
        self.policy_read.emit()

    @Slot(int)
    def _on_policy_chosen(self, index: int) -> None:
        name = self.policy_list.itemData(index)
        self._refresh_policy()  # until the user has confirmed
        if name == _OPEN_POLICY:
            records = self._state.records_path
            folder = None if records is None else records.parent
            ask_to_open(self, "Follow a policy of your own", POLICY_FILES, folder, self.open_policy)
        elif name in load_bundled_policies():
            self.ask_to_follow(name, load_bundled_policies()[name])
        else:
            self._state.follow_policy(name, self._state.choices)

    def open_policy(self, path: str) -> None:
        """Read the policy in a file, and ask whether to follow it."""
        self._read_policy(path, self._on_policy_opened)

    def _on_policy_opened(self, name: str, policy: Policy) -> None:
        self._files[name] = policy
        self.ask_to_follow(name, policy)

    def ask_to_follow(self, name: str, policy: Policy) -> None:
        """Say what a policy changes, and follow it once that is confirmed; if it changes nothing, nobody is asked."""
        fitting = fit_choices(self._state.choices, policy, self._state.regions)
        changes = describe_fit(self._state.choices, fitting)
        follow = partial(self._state.follow_policy, name, fitting)
        if not changes:
            follow()
            return
        heading = f"Follow the policy “{policy.name}”?"
        text = "\n".join(
            ["It changes:", *changes, "Nothing else changes them; Undo takes all of it back."]
        )
        ask_question(
            self.window(), heading, text, {"&Follow it": follow, "Cancel": self._refresh_policy}
        )

    # Other settings

    @Slot(str, object)
    def _on_edited(self, name: str, value: object) -> None:
        # Turning a spin box is one step to undo.
        self._state.change_fields(name, **{name: value})

    @Slot(str, object)
    def _on_loss_edited(self, name: str, value: object) -> None:
        component, approach, _ = LOSS
        self._state.change(
            self._state.choices.with_parameter(component, approach, name, value), merge=".".join(LOSS)
        )

    def _list_usable(self) -> list[tuple[ColumnFacts, SensitiveColumn]]:
        """List the sensitive columns that have few enough values to be judged."""
        table = self._state.table
        if table is None:
            return []
        facts_by_name = {facts.name: facts for facts in table.columns}
        chosen = [
            (facts_by_name[column.column], column)
            for column in self._state.choices.sensitive_columns
            if column.column in facts_by_name
        ]
        return [(facts, sensitive) for facts, sensitive in chosen if facts.categories is not None]

    @Slot()
    def open_sensitive(self) -> None:
        """Ask what must hold for sensitive values."""
        dialog = SensitiveDialog(self._list_usable(), self.window())
        dialog.chosen.connect(self._on_sensitive)
        dialog.open()

    @Slot(object)
    def _on_sensitive(self, chosen: SensitiveColumn) -> None:
        self._state.change(self._state.choices.with_sensitive(chosen))


def _read_policy(name: str, progress: Progress) -> Policy:
    progress.update("Reading the policy")
    return find_policy(name)


def _describe_sensitive(chosen: SensitiveColumn) -> str:
    """Describe a sensitive column and its criteria in a few words."""
    demands = " and ".join(criterion.in_words for criterion in chosen.criteria) or "report only"
    benign = (
        f"; benign: {', '.join(chosen.benign[:3])}{' …' if len(chosen.benign) > 3 else ''}"
        if chosen.benign
        else ""
    )
    return f"{chosen.column} ({demands}{benign})"


class ApproachLine(QWidget):
    """The chosen approaches in one line. `toggled(bool)`: show or hide all settings of them."""

    toggled = Signal(bool)

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._state = state
        self.words = message_label()
        self.change = with_properties(
            QPushButton("Change…"),
            checkable=True,
            accessibleName="Change approaches, suppression, limits and range",
        )
        set_tool_tip(
            self.change, "Show or hide approaches with their parameters, suppression, limits and range"
        )
        self.change.toggled.connect(self.toggled)
        hbox((self.words, 1), (self.change, 0, _TOP), within=self, margins=(0, GRID, 0, 0))

    def refresh(self) -> None:
        """Show what is chosen."""
        self.words.setText(f"Approach: {describe_approaches(self._state.choices.approaches)}")


class ConstraintsSection(QWidget):
    """One field for each limit of aggregated regions, and in one line what is in force."""

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._state = state
        self.words = hint_label()
        self.form = OptionForm(RegionConstraints, self, first=_FIRST_CONSTRAINTS)
        self.form.setContentsMargins(2 * GRID, 0, 0, 0)
        self.unfold = CollapsibleSection("Limits", self.form)
        set_tool_tip(
            self.unfold, "Boundaries that no aggregated region crosses, and how much each should hold"
        )
        vbox(self.unfold, self.words, self.form, within=self, margins=0, spacing=GRID // 2)
        self.form.edited.connect(self._on_edited)

    def _list_sources(self) -> dict[str, Sequence[str]]:
        """Return the columns of the region file that can be chosen."""
        regions = self._state.regions
        if regions is None:
            return {}
        labels = tuple(regions.labels)
        numbers = tuple(regions.numbers)
        return {
            "region labels": labels,
            "region numbers": numbers,
            "region columns": (*labels, *numbers),
        }

    def refresh(self) -> None:
        """Show what is chosen."""
        chosen = self._state.choices
        self.setVisible(self._state.has_data)
        self.form.show_group(chosen, self._list_sources())
        for name in ("min_population", "max_population"):
            is_effective = chosen.population_column is not None or bool(chosen.value_of(name))
            self.form.editors[name].setEnabled(is_effective)
        self._describe_limits()

    def _describe_limits(self) -> None:
        chosen = self._state.choices
        regions = self._state.regions
        wrong = [] if regions is None else check_constraints(chosen.limiting, regions)
        words = wrong[0].message if wrong else chosen.limits_in_words()
        set_variant(self.words, "error" if wrong else "muted")
        self.words.setText(words)
        self.words.setVisible(bool(words))
        self.form.show_error("alone", "")

    @Slot(str, object)
    def _on_edited(self, name: str, value: object) -> None:
        # Steps of one spin box are one step of undo, those of another box are the next: undo names the setting.
        merge = name if isinstance(self.form.editors[name], QSpinBox) else None
        self._state.change_fields(merge, **{name: value})


class ApproachChoice(QWidget):
    """One component: which approach, in one sentence what it does, and its parameters."""

    def __init__(self, component: str, state: AppState) -> None:
        super().__init__()
        self._component = component
        self._state = state
        self.combo = QComboBox()
        approaches = list_approaches(component).items()
        set_items(
            self.combo, ((kind.metadata.title, name, kind.metadata.summary) for name, kind in approaches)
        )
        self.combo.activated.connect(self._on_activated)
        self._summary = hint_label()
        self.form = ParameterForm(component, state, without=LOSS[1:] if component == LOSS[0] else ())
        vbox(
            Field(_LABELS[component], self.combo, "Also in the menu above"),
            self._summary,
            self.form,
            within=self,
            margins=0,
            spacing=GRID // 2,
        )

    def refresh(self) -> None:
        """Show what is chosen."""
        name = self._state.choices.approaches[self._component]
        kind = list_approaches(self._component).get(name)
        self.combo.setCurrentIndex(self.combo.findData(name))
        self._summary.setText(
            f"{kind.metadata.summary} {kind.metadata.discloses}".strip()
            if kind
            else "Not installed here."
        )
        self.form.refresh()

    @Slot(int)
    def _on_activated(self, index: int) -> None:
        self._state.change(
            self._state.choices.with_approach(self._component, self.combo.itemData(index))
        )


class ApproachesSection(QWidget):
    """The approach of each component, suppression, limits, and the range of site numbers."""

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._state = state
        self._tab_order: list[QWidget] = []
        self.choices = {component: ApproachChoice(component, state) for component in COMPONENTS}
        self.suppression = OptionForm(PrivacySettings, self, without=_PROTECTION)
        self.constraints = ConstraintsSection(state)
        self.range = OptionForm(SweepSettings, self, columns=3, without=_CHOSEN_IN_RESULTS)
        for form in (self.suppression, self.range):
            form.edited.connect(self._on_edited)
        vbox(
            heading_label("Approaches"),
            *self.choices.values(),
            heading_label("Suppression"),
            self.suppression,
            self.constraints,
            heading_label("Range of site numbers"),
            self.range,
            within=self,
            margins=0,
            spacing=GRID,
        )

    def refresh(self) -> None:
        """Show what is chosen."""
        chosen = self._state.choices
        for choice in self.choices.values():
            choice.refresh()
        self.suppression.show_group(chosen)
        self.constraints.refresh()
        self.range.show_group(chosen)
        self.range.show_research(self._state.shows_research)
        self._order_tabs()

    @Slot(str, object)
    def _on_edited(self, name: str, value: object) -> None:
        self._state.change_fields(name, **{name: value})

    def _order_tabs(self) -> None:
        """Parameters come after their approach: fields made later would come after everything else."""
        order: list[QWidget] = []
        for choice in self.choices.values():
            order += [choice.combo, *(field.widget for field in choice.form.fields.values())]
        order += self.suppression.editors.values()
        order += (
            self.constraints.unfold,
            *self.constraints.form.editors.values(),
            *self.range.editors.values(),
        )
        if order != self._tab_order:
            self._tab_order = order
            for widget, following in pairwise(order):
                QWidget.setTabOrder(widget, following)
