"""The part of the session that goes along with a release: the researcher's requirement and the policy checklist."""

from __future__ import annotations

from typing import Any

from vbas_desktop.assessment.policy import ExportChoices, Knowledge, PolicyNotes, as_document, evidence
from vbas_desktop.assessment.representability.requirement import Criterion, Requirement, check, requirement_from
from vbas_desktop.assessment.representability.solution import Checked
from vbas_desktop.model.records import Role

from .choices import Choices
from .events import Event
from .project import ProjectState
from .results import Entry
from .results_state import Results


class Papers(Results):
    """Results with what is required of them and what was decided about them."""

    def __init__(self) -> None:
        super().__init__()
        self.requirement = Requirement()
        """What a researcher needs; states nothing until it is edited or loaded."""
        self.policy = PolicyNotes()
        """Choices, notes and signature of the checklist."""

    # The requirement

    @property
    def has_requirement(self) -> bool:
        """Whether the requirement states any criterion."""
        return bool(check(self.requirement, {}))

    def require(self, requirement: Requirement) -> None:
        """Put another requirement in force."""
        self._put("requirement", requirement, Event.REQUIREMENT_CHANGED, modifies=True)

    def criteria(self, entry: Entry | None) -> list[Criterion]:
        """The requirement against a solution; without one nothing is checkable."""
        return check(self.requirement, {}) if entry is None else checked_of(entry).criteria(self.requirement)

    def meets_requirement(self, entry: Entry) -> bool:
        """Whether a solution misses no criterion."""
        return checked_of(entry).meets(self.requirement)

    # The policy

    def note_policy(self, notes: PolicyNotes) -> None:
        """Keep other notes."""
        self._put("policy", notes, Event.POLICY_CHANGED, modifies=True)

    def policy_document(self, entry: Entry, export: ExportChoices | None = None) -> dict[str, Any]:
        """The filled-in checklist of a release of this solution."""
        return as_document(self.policy, evidence(knowledge_of(entry.run.choices, entry, self, export)))

    # Projects

    def papers_of(self, state: ProjectState) -> None:
        """Take over the requirement and the notes of a project."""
        self.requirement = requirement_from(state.requirement) if state.requirement else Requirement()
        self.policy = PolicyNotes.from_json(state.policy)
        self._tell(Event.REQUIREMENT_CHANGED, Event.POLICY_CHANGED)

    def forget_papers(self) -> None:
        """Other data begin without requirement and notes."""
        self.requirement, self.policy = Requirement(), PolicyNotes()
        self._tell(Event.REQUIREMENT_CHANGED, Event.POLICY_CHANGED)


def checked_of(entry: Entry) -> Checked:
    """A solution as requirements see it; only what was computed with it, so that this costs nothing."""
    run, choices = entry.run, entry.run.choices
    released = [name for name, role in choices.roles.items() if role is not Role.IDENTIFIER]
    key = run.key
    # What is counted now says nothing about a solution of other records.
    problem = None if run.outdated else entry.problem
    return Checked(entry.solution, key.quasi_identifiers, key.region_column, key.k, problem, released)


def knowledge_of(
    choices: Choices, entry: Entry | None, papers: Papers, export: ExportChoices | None = None
) -> Knowledge:
    """What the program knows of the release of a solution, or of the choices before there is one."""
    roles = {str(role): choices.columns(role) for role in Role}
    facts = entry.solution.representability if entry is not None else {}
    far = facts.get("mean_distance")
    return Knowledge(
        roles={name: columns for name, columns in roles.items() if columns},
        region_column=choices.region_column,
        k=choices.k if choices.quasi_identifiers else None,
        grouped=tuple(choices.groupings),
        combination=entry.run.title if entry is not None else "",
        aggregated_regions=entry.solution.aggregated_regions if entry is not None else None,
        sample_size_ratio=facts.get("sample_size_ratio"),
        jaccard=facts.get("jaccard"),
        mean_distance="" if far is None else f"{far:.3g} {facts.get('distance_unit', '')}".strip(),
        requirement=f"“{papers.requirement.title}”" if papers.requirement.title and papers.has_requirement else "",
        export=export,
        is_filtered=bool(choices.keep_records or choices.drop_records),
    )
