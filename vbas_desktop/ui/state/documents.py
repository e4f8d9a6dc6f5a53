"""The part of the state that documents a release: the researcher's requirement and the policy checklist."""

from __future__ import annotations

from typing import Any

from vbas_desktop.analysis.checklist import (
    ExportChoices,
    PolicyNotes,
    ReleaseFacts,
    build_checklist_document,
    collect_evidence,
)
from vbas_desktop.analysis.representability.requirement import (
    Requirement,
    RequirementRow,
    check_requirement,
    parse_requirement,
)
from vbas_desktop.analysis.representability.solution_check import SolutionCheck
from vbas_desktop.model.records import Role

from .choices import Choices
from .events import Event
from .project import ProjectState
from .result_list import Results
from .scenario import ResultRow


class DocumentedResults(Results):
    """Adds the requirement and the policy checklist to the results."""

    def __init__(self) -> None:
        super().__init__()
        self.requirement = Requirement()
        """What a researcher needs; states nothing until it is edited or loaded."""
        self.policy = PolicyNotes()
        """Choices, notes and signature of the checklist."""

    # The requirement

    @property
    def has_requirement(self) -> bool:
        """Say if the requirement states any criterion."""
        return bool(check_requirement(self.requirement, {}))

    def require(self, requirement: Requirement) -> None:
        """Put another requirement in force."""
        self._set("requirement", requirement, Event.REQUIREMENT_CHANGED, modifies=True)

    def criteria(self, entry: ResultRow | None) -> list[RequirementRow]:
        """Check the requirement against a solution; without one nothing is checkable."""
        if entry is None:
            return check_requirement(self.requirement, {})
        return build_solution_check(entry).check(self.requirement)

    def meets_requirement(self, entry: ResultRow) -> bool:
        """Say if a solution misses no criterion."""
        return build_solution_check(entry).meets(self.requirement)

    # The policy

    def set_policy_notes(self, notes: PolicyNotes) -> None:
        """Replace the choices, notes and signature of the checklist."""
        self._set("policy", notes, Event.POLICY_CHANGED, modifies=True)

    def policy_document(self, entry: ResultRow, export: ExportChoices | None = None) -> dict[str, Any]:
        """Build the filled-in checklist of a release of this solution."""
        return build_checklist_document(
            self.policy, collect_evidence(build_release_facts(entry.run.choices, entry, self, export))
        )

    # Projects

    def restore_documents(self, state: ProjectState) -> None:
        """Take over the requirement and the notes of a project."""
        self.requirement = parse_requirement(state.requirement) if state.requirement else Requirement()
        self.policy = PolicyNotes.from_json(state.policy)
        self._notify(Event.REQUIREMENT_CHANGED, Event.POLICY_CHANGED)

    def clear_documents(self) -> None:
        """Drop requirement and notes: other data begin without them."""
        self.requirement = Requirement()
        self.policy = PolicyNotes()
        self._notify(Event.REQUIREMENT_CHANGED, Event.POLICY_CHANGED)


def build_solution_check(entry: ResultRow) -> SolutionCheck:
    """Build the check of a solution against requirements from what was computed with it, so that it costs nothing."""
    run = entry.run
    choices = entry.run.choices
    released = [name for name, role in choices.roles.items() if role.is_released]
    key = run.key
    # What is counted now says nothing about a solution of other records.
    problem = None if run.outdated else entry.problem
    return SolutionCheck(
        entry.solution, key.quasi_identifiers, key.region_column, key.k, problem, released
    )


def build_release_facts(
    choices: Choices,
    entry: ResultRow | None,
    documents: DocumentedResults,
    export: ExportChoices | None = None,
) -> ReleaseFacts:
    """Return the facts about the release of a solution, or about the settings before there is one."""
    roles = {str(role): choices.columns(role) for role in Role}
    facts = entry.solution.representability if entry is not None else {}
    far = facts.get("mean_distance")
    return ReleaseFacts(
        roles={name: columns for name, columns in roles.items() if columns},
        region_column=choices.region_column,
        k=choices.k if choices.quasi_identifiers else None,
        grouped=tuple(choices.groupings),
        combination=entry.run.title if entry is not None else "",
        aggregated_regions=entry.solution.aggregated_regions if entry is not None else None,
        sample_size_ratio=facts.get("sample_size_ratio"),
        jaccard=facts.get("jaccard"),
        mean_distance="" if far is None else f"{far:.3g} {facts.get('distance_unit', '')}".strip(),
        requirement=f"“{documents.requirement.title}”"
        if documents.requirement.title and documents.has_requirement
        else "",
        export=export,
        is_filtered=bool(choices.keep_records or choices.drop_records),
    )
