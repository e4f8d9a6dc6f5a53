"""Policy checklist of a release: points to settle, evidence that the program has, notes, and the signature."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import cache
from typing import Any

from vbas_desktop.io.paths import resource_path
from vbas_desktop.model.text import format_count


@dataclass(frozen=True)
class ChecklistPoint:
    """One point to settle, with the steps towards it."""

    id: str
    title: str
    steps: tuple[str, ...]


@dataclass(frozen=True)
class ChecklistModule:
    """Points that belong together."""

    id: str
    title: str
    points: tuple[ChecklistPoint, ...]


@dataclass(frozen=True)
class StrategicChoice:
    """A strategic choice, made once before the points."""

    id: str
    question: str
    options: tuple[str, ...]
    help: str


@dataclass(frozen=True)
class ChoiceOutcomes:
    """Outcomes of a combination of strategic choices; a choice that makes no difference is not listed."""

    choices: Mapping[str, str]
    outcomes: tuple[str, ...]


@dataclass(frozen=True)
class Checklist:
    """All choices and points, and the outcomes of combinations of choices (source 002, Table 5.2)."""

    choices: tuple[StrategicChoice, ...]
    modules: tuple[ChecklistModule, ...]
    combinations: tuple[ChoiceOutcomes, ...] = ()

    @property
    def points(self) -> tuple[ChecklistPoint, ...]:
        """Points of all modules in order."""
        return tuple(point for module in self.modules for point in module.points)


@cache
def load_checklist() -> Checklist:
    """Load the checklist that comes with the program."""
    data = json.loads(resource_path("policy.json").read_text(encoding="utf-8"))
    return Checklist(
        tuple(
            StrategicChoice(c["id"], c["question"], tuple(c["options"]), c["help"])
            for c in data["strategy"]
        ),
        tuple(
            ChecklistModule(
                m["id"],
                m["title"],
                tuple(ChecklistPoint(p["id"], p["title"], tuple(p["steps"])) for p in m["points"]),
            )
            for m in data["modules"]
        ),
        tuple(
            ChoiceOutcomes(outcome["choices"], tuple(outcome["outcomes"]))
            for outcome in data["outcomes"]
        ),
    )


def find_outcomes(choices: Mapping[str, str]) -> tuple[str, ...]:
    """Find the outcomes of strategic choices; empty while a choice that makes a difference is open."""
    for combination in load_checklist().combinations:
        if all(choices.get(name) == option for name, option in combination.choices.items()):
            return combination.outcomes
    return ()


@dataclass(frozen=True)
class ExportChoices:
    """Choices of an export that settle points of the checklist.

    ``renames`` counts the columns that get another name, ``aggregated`` those that have one value per class.
    """

    shuffle: bool = True
    renames: int = 0
    record_key: bool = False
    aggregated: int = 0


@dataclass(frozen=True)
class ReleaseFacts:
    """Facts about a release that is being prepared; None or empty if not known (yet)."""

    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    region_column: str | None = None
    k: int | None = None
    grouped: tuple[str, ...] = ()
    combination: str = ""
    aggregated_regions: int | None = None
    sample_size_ratio: float | None = None
    jaccard: float | None = None
    mean_distance: str = ""
    requirement: str = ""
    export: ExportChoices | None = None
    is_filtered: bool = False


_FOR_PEOPLE = frozenset({"dpm-2"})
"""Points that only people can settle: the evidence is listed but does not settle them."""


class PointState(StrEnum):
    """State of a point."""

    KNOWN = "known to the program"
    NOTED = "settled by a note"
    OPEN = "open"


def collect_evidence(facts: ReleaseFacts) -> dict[str, str]:
    """Collect what the facts say about points, by point; a point without evidence needs a note."""
    evidence: dict[str, str] = {}
    _add_role_evidence(facts, evidence)
    _add_setting_evidence(facts, evidence)
    _add_result_evidence(facts, evidence)
    if facts.is_filtered:
        evidence["prm-9"] = "Records are chosen by a file of required or unwanted combinations."
    if facts.export is not None:
        _add_export_evidence(facts, facts.export, evidence)
    return evidence


def _add_export_evidence(facts: ReleaseFacts, export: ExportChoices, evidence: dict[str, str]) -> None:
    """Add what follows from the options of an export."""
    if export.shuffle:
        dropped = "; identifiers are dropped." if facts.roles.get("identifier") else "."
        evidence["exm-2"] = "The rows are written in random order" + dropped
    if export.renames:
        evidence["exm-1"] = (
            f"{format_count(export.renames, 'column has', 'columns have')} another name in the release."
        )
    if export.record_key:
        evidence["dpm-5"] = "Every record gets a random key; the index of the keys stays inside."
    if export.aggregated:
        columns = format_count(export.aggregated, "sensitive column is", "sensitive columns are")
        evidence["prm-10"] = evidence["mrm-7"] = f"{columns} released as one value per class."


def _add_role_evidence(facts: ReleaseFacts, evidence: dict[str, str]) -> None:
    identifiers, quasi, sensitive = (
        ", ".join(facts.roles.get(role, ())) for role in ("identifier", "quasi-identifier", "sensitive")
    )
    if identifiers:
        evidence["dpm-1"] = evidence["dpm-2"] = f"Marked as identifiers: {identifiers}."
        evidence["dpm-6"] = f"Not released: {identifiers}."
        evidence["mrm-3"] = f"Left out as identifiers: {identifiers}."
    if quasi:
        region_text = f"; region: {facts.region_column}" if facts.region_column else ""
        evidence["dpm-3"] = f"Marked as quasi-identifiers: {quasi}{region_text}."
        evidence["prm-2"] = evidence["mrm-4"] = f"Released quasi-identifiers: {quasi}{region_text}."
    if sensitive:
        evidence["dpm-4"] = f"Marked as sensitive: {sensitive}."
    if facts.region_column:
        evidence["prm-10"] = evidence["mrm-7"] = (
            "Sensitive values are released as recorded, not aggregated."
        )


def _add_setting_evidence(facts: ReleaseFacts, evidence: dict[str, str]) -> None:
    if facts.k is not None:
        evidence["prm-1"] = f"k is {facts.k:,}."
        evidence["anm-1"] = f"Solutions are computed and verified with k = {facts.k:,}."
    if facts.region_column:
        groups = f" {', '.join(facts.grouped)}: categories taken together." if facts.grouped else ""
        evidence["prm-3"] = f"Places are generalised to aggregated regions.{groups}"
        evidence["prm-5"] = (
            "Places are as far apart as their points; a class’s centre is that of its records."
        )
        evidence["mrm-6"] = f"crosswalk.csv says what each aggregated region is made of.{groups}"
    if facts.requirement:
        evidence["prm-8"] = evidence["prm-9"] = f"Stated in the requirement {facts.requirement}."


def _add_result_evidence(facts: ReleaseFacts, evidence: dict[str, str]) -> None:
    if facts.aggregated_regions is None or facts.sample_size_ratio is None:
        return
    share = f"{100 * facts.sample_size_ratio:.4g} % of the records are released"
    evidence["anm-2"] = f"Counted; {share}, the others were in classes below k."
    evidence["anm-3"] = f"Regions were merged ({facts.combination}); what still was below k is deleted."
    evidence["mrm-1"] = f"{facts.combination}; {facts.aggregated_regions:,} aggregated regions."
    index_text = "" if facts.jaccard is None else f"Jaccard {facts.jaccard:.3g}"
    distance_text = f", mean distance moved {facts.mean_distance}" if facts.mean_distance else ""
    evidence["mrm-2"] = (
        f"{index_text}{distance_text}."
        if index_text
        else "Nothing is released, so nothing could be measured."
    )
    evidence["mrm-5"] = f"{share}; no value of a small class is released."
    evidence["mrm-9"] = f"k = {facts.k}; {share}."
    evidence["mrm-10"] = "representability.json goes along with the release."


@dataclass(frozen=True)
class PolicyNotes:
    """Decisions of people: strategic choices, notes on points, and who signed when.

    ``export`` are the latest options of an export. ``policy`` is the id or the file of the policy that releases are
    evaluated by, ``population`` the file of a table of the population; notes with a slash in their name answer
    questions of policies. ``extra`` holds fields of later versions.
    """

    choices: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    signed_by: str = ""
    signed_on: str = ""
    export: ExportChoices = ExportChoices()
    policy: str = ""
    population: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PolicyNotes:
        """Build the notes from the data of a project file."""
        names = ("choices", "notes", "signed_by", "signed_on", "export", "policy", "population")
        fields = {name: data[name] for name in names if name in data}
        extra = {name: value for name, value in data.items() if name not in fields}
        if "export" in fields:
            fields["export"] = ExportChoices(**fields["export"])
        return cls(**fields, extra=extra)

    def as_json(self) -> dict[str, Any]:
        """Return the notes as data for a project file."""
        return {
            **self.extra,
            "choices": dict(self.choices),
            "notes": dict(self.notes),
            "signed_by": self.signed_by,
            "signed_on": self.signed_on,
            **({"export": asdict(self.export)} if self.export != ExportChoices() else {}),
            **{name: value for name in ("policy", "population") if (value := getattr(self, name))},
        }

    def _replace(self, **values: Any) -> PolicyNotes:
        """Replace values; a change removes the signature, because it was not signed."""
        changed = replace(self, **values)
        return self if changed == self else replace(changed, signed_by="", signed_on="")

    def with_export(self, export: ExportChoices) -> PolicyNotes:
        """Return the notes with other options of an export."""
        return self._replace(export=export)

    def with_policy(self, policy: str | None = None, population: str | None = None) -> PolicyNotes:
        """Return the notes with another policy or table of the population (None: unchanged)."""
        changes = {"policy": policy, "population": population}
        return self._replace(**{name: value for name, value in changes.items() if value is not None})

    @property
    def answers(self) -> dict[str, str]:
        """Answers of people to the questions of policies."""
        return {name: text for name, text in self.notes.items() if "/" in name}

    def with_note(self, point: str, text: str) -> PolicyNotes:
        """Return the notes with another note on a point; an empty text removes it."""
        notes = {name: note for name, note in self.notes.items() if name != point}
        if text.strip():
            notes[point] = text
        return self._replace(notes=notes)

    def with_choice(self, choice: str, option: str) -> PolicyNotes:
        """Return the notes with another strategic choice."""
        return self._replace(
            choices={name: value for name, value in {**self.choices, choice: option}.items() if value}
        )

    def with_signature(self, by: str, on: str) -> PolicyNotes:
        """Return the notes signed by somebody on a day (ISO date); without a name, unsigned."""
        return replace(self, signed_by=by.strip(), signed_on=on if by.strip() else "")


def find_point_state(point: str, notes: PolicyNotes, evidence: Mapping[str, str]) -> PointState:
    """Find the state of a point: a note settles it, otherwise evidence does, unless it is for people to settle."""
    if notes.notes.get(point):
        return PointState.NOTED
    return PointState.KNOWN if point in evidence and point not in _FOR_PEOPLE else PointState.OPEN


def list_open_points(notes: PolicyNotes, evidence: Mapping[str, str]) -> list[ChecklistPoint]:
    """List the points that neither a note nor evidence has settled."""
    return [
        point
        for point in load_checklist().points
        if find_point_state(point.id, notes, evidence) is PointState.OPEN
    ]


def build_checklist_document(notes: PolicyNotes, evidence: Mapping[str, str]) -> dict[str, Any]:
    """Build the filled-in checklist as plain data, for run.json and the report."""
    return {
        "choices": [
            {"id": choice.id, "question": choice.question, "answer": notes.choices.get(choice.id, "")}
            for choice in load_checklist().choices
        ],
        "outcomes": list(find_outcomes(notes.choices)),
        "points": [
            {
                "id": point.id,
                "title": point.title,
                "state": str(find_point_state(point.id, notes, evidence)),
                "evidence": evidence.get(point.id, ""),
                "note": notes.notes.get(point.id, ""),
            }
            for point in load_checklist().points
        ],
        "answers": notes.answers,
        "signed_by": notes.signed_by,
        "signed_on": notes.signed_on,
    }
