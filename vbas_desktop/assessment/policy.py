"""The policy checklist of a release: points to settle, what the program knows of each, notes, and who signed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import cache
from typing import Any

from vbas_desktop.io.places import resource
from vbas_desktop.model.words import counted


@dataclass(frozen=True)
class Point:
    """One thing to settle, with the steps that lead there."""

    id: str
    title: str
    steps: tuple[str, ...]


@dataclass(frozen=True)
class Module:
    """Points that belong together."""

    id: str
    title: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Choice:
    """A strategic choice: decided once, before the points."""

    id: str
    question: str
    options: tuple[str, ...]
    help: str


@dataclass(frozen=True)
class Combination:
    """What a combination of strategic choices leads to; a choice that makes no difference is not named."""

    choices: Mapping[str, str]
    outcomes: tuple[str, ...]


@dataclass(frozen=True)
class Checklist:
    """All choices and points, and what combinations of choices lead to (source 002, Table 5.2)."""

    choices: tuple[Choice, ...]
    modules: tuple[Module, ...]
    combinations: tuple[Combination, ...] = ()

    @property
    def points(self) -> tuple[Point, ...]:
        """The points of all modules in order."""
        return tuple(point for module in self.modules for point in module.points)


@cache
def checklist() -> Checklist:
    """The checklist that comes with the program."""
    data = json.loads(resource("policy.json").read_text(encoding="utf-8"))
    return Checklist(
        tuple(Choice(c["id"], c["question"], tuple(c["options"]), c["help"]) for c in data["strategy"]),
        tuple(
            Module(m["id"], m["title"], tuple(Point(p["id"], p["title"], tuple(p["steps"])) for p in m["points"]))
            for m in data["modules"]
        ),
        tuple(Combination(each["choices"], tuple(each["outcomes"])) for each in data["outcomes"]),
    )


def find_outcomes(choices: Mapping[str, str]) -> tuple[str, ...]:
    """Find what strategic choices lead to; nothing while a choice that makes a difference is not made."""
    for each in checklist().combinations:
        if all(choices.get(name) == option for name, option in each.choices.items()):
            return each.outcomes
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
class Knowledge:
    """What the program knows of a release that is being prepared; None or empty: not known (yet)."""

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
"""Points that only people can settle: what the program knows is shown, but does not say if anything is missing."""


class State(StrEnum):
    """Where a point stands."""

    KNOWN = "known to the program"
    NOTED = "settled by a note"
    OPEN = "open"


def evidence(known: Knowledge) -> dict[str, str]:
    """What the program can say of points by itself; a point that it says nothing of waits for a note."""
    found: dict[str, str] = {}
    _of_roles(known, found)
    _of_settings(known, found)
    _of_result(known, found)
    if known.is_filtered:
        found["prm-9"] = "Records are chosen by a file of required or unwanted combinations."
    if known.export is not None:
        _of_export(known, known.export, found)
    return found


def _of_export(known: Knowledge, export: ExportChoices, found: dict[str, str]) -> None:
    """Add what follows from the choices of an export."""
    if export.shuffle:
        dropped = "; identifiers are dropped." if known.roles.get("identifier") else "."
        found["exm-2"] = "The rows are written in random order" + dropped
    if export.renames:
        found["exm-1"] = f"{counted(export.renames, 'column has', 'columns have')} another name in the release."
    if export.record_key:
        found["dpm-5"] = "Every record gets a random key; the index of the keys stays inside."
    if export.aggregated:
        columns = counted(export.aggregated, "sensitive column is", "sensitive columns are")
        found["prm-10"] = found["mrm-7"] = f"{columns} released as one value per class."


def _of_roles(known: Knowledge, found: dict[str, str]) -> None:
    identifiers, quasi, sensitive = (
        ", ".join(known.roles.get(role, ())) for role in ("identifier", "quasi-identifier", "sensitive")
    )
    if identifiers:
        found["dpm-1"] = found["dpm-2"] = f"Marked as identifiers: {identifiers}."
        found["dpm-6"] = f"Not released: {identifiers}."
        found["mrm-3"] = f"Left out as identifiers: {identifiers}."
    if quasi:
        place = f"; place: {known.region_column}" if known.region_column else ""
        found["dpm-3"] = f"Marked as quasi-identifiers: {quasi}{place}."
        found["prm-2"] = found["mrm-4"] = f"Released quasi-identifiers: {quasi}{place}."
    if sensitive:
        found["dpm-4"] = f"Marked as sensitive: {sensitive}."
    if known.region_column:
        found["prm-10"] = found["mrm-7"] = "Sensitive values are released as recorded, not aggregated."


def _of_settings(known: Knowledge, found: dict[str, str]) -> None:
    if known.k is not None:
        found["prm-1"] = f"k is {known.k:,}."
        found["anm-1"] = f"Solutions are computed and verified with k = {known.k:,}."
    if known.region_column:
        groups = f" {', '.join(known.grouped)}: categories taken together." if known.grouped else ""
        found["prm-3"] = f"Places are generalised to aggregated regions.{groups}"
        found["prm-5"] = "Places are as far apart as their points; a class’s centre is that of its records."
        found["mrm-6"] = f"crosswalk.csv says what each aggregated region is made of.{groups}"
    if known.requirement:
        found["prm-8"] = found["prm-9"] = f"Stated in the requirement {known.requirement}."


def _of_result(known: Knowledge, found: dict[str, str]) -> None:
    if known.aggregated_regions is None or known.sample_size_ratio is None:
        return
    share = f"{100 * known.sample_size_ratio:.4g} % of the records are released"
    found["anm-2"] = f"Counted; {share}, the others were in classes below k."
    found["anm-3"] = f"Regions were merged ({known.combination}); what still was below k is deleted."
    found["mrm-1"] = f"{known.combination}; {known.aggregated_regions:,} aggregated regions."
    index = "" if known.jaccard is None else f"Jaccard {known.jaccard:.3g}"
    far = f", mean distance moved {known.mean_distance}" if known.mean_distance else ""
    found["mrm-2"] = f"{index}{far}." if index else "Nothing is released, so nothing could be measured."
    found["mrm-5"] = f"{share}; no value of a small class is told."
    found["mrm-9"] = f"k = {known.k}; {share}."
    found["mrm-10"] = "representability.json goes along with the release."


@dataclass(frozen=True)
class PolicyNotes:
    """What people decided: strategic choices, notes on points, and who signed when.

    ``export`` is what was chosen in Export last. ``policy`` is the id or the file of the policy that releases are
    judged by, ``population`` the file of a table of the population; notes with a slash in their name answer questions
    of policies. ``extra`` keeps fields of later versions.
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
        """The notes from a project file."""
        names = ("choices", "notes", "signed_by", "signed_on", "export", "policy", "population")
        known = {name: data[name] for name in names if name in data}
        extra = {name: value for name, value in data.items() if name not in known}
        if "export" in known:
            known["export"] = ExportChoices(**known["export"])
        return cls(**known, extra=extra)

    def as_json(self) -> dict[str, Any]:
        """The notes as they go into a project file."""
        return {
            **self.extra,
            "choices": dict(self.choices),
            "notes": dict(self.notes),
            "signed_by": self.signed_by,
            "signed_on": self.signed_on,
            **({"export": asdict(self.export)} if self.export != ExportChoices() else {}),
            **{name: value for name in ("policy", "population") if (value := getattr(self, name))},
        }

    def _changed(self, **values: Any) -> PolicyNotes:
        """With other values; whatever is changed takes the signature away, as it is not what was signed."""
        changed = replace(self, **values)
        return self if changed == self else replace(changed, signed_by="", signed_on="")

    def exporting(self, export: ExportChoices) -> PolicyNotes:
        """Return the notes with other choices of an export."""
        return self._changed(export=export)

    def judging(self, policy: str | None = None, population: str | None = None) -> PolicyNotes:
        """By another policy or table of the population (None: as before)."""
        given = {"policy": policy, "population": population}
        return self._changed(**{name: value for name, value in given.items() if value is not None})

    @property
    def answers(self) -> dict[str, str]:
        """What people answered to the questions of policies."""
        return {name: text for name, text in self.notes.items() if "/" in name}

    def noted(self, point: str, text: str) -> PolicyNotes:
        """With another note on a point."""
        notes = {name: note for name, note in self.notes.items() if name != point}
        if text.strip():
            notes[point] = text
        return self._changed(notes=notes)

    def chosen(self, choice: str, option: str) -> PolicyNotes:
        """With another strategic choice."""
        return self._changed(choices={name: value for name, value in {**self.choices, choice: option}.items() if value})

    def signed(self, by: str, on: str) -> PolicyNotes:
        """Signed by somebody on a day (ISO date)."""
        return replace(self, signed_by=by.strip(), signed_on=on if by.strip() else "")


def state_of(point: str, notes: PolicyNotes, known: Mapping[str, str]) -> State:
    """Where a point stands: a note settles it, else what the program knows does, unless it is for people to settle."""
    if notes.notes.get(point):
        return State.NOTED
    return State.KNOWN if point in known and point not in _FOR_PEOPLE else State.OPEN


def open_points(notes: PolicyNotes, known: Mapping[str, str]) -> list[Point]:
    """The points that nobody and nothing has settled."""
    return [point for point in checklist().points if state_of(point.id, notes, known) is State.OPEN]


def as_document(notes: PolicyNotes, known: Mapping[str, str]) -> dict[str, Any]:
    """The filled-in checklist as plain data, for run.json and the report for the file."""
    return {
        "choices": [
            {"id": each.id, "question": each.question, "answer": notes.choices.get(each.id, "")}
            for each in checklist().choices
        ],
        "outcomes": list(find_outcomes(notes.choices)),
        "points": [
            {
                "id": point.id,
                "title": point.title,
                "state": str(state_of(point.id, notes, known)),
                "evidence": known.get(point.id, ""),
                "note": notes.notes.get(point.id, ""),
            }
            for point in checklist().points
        ],
        "answers": notes.answers,
        "signed_by": notes.signed_by,
        "signed_on": notes.signed_on,
    }
