"""Requirement and policy notes belong to the state, its project file and its releases."""

import json

import pytest
from made_up_sessions import open_data, run, write_data

from vbas_desktop.analysis.checklist import ExportChoices
from vbas_desktop.analysis.representability.requirement import Requirement, RequirementStatus
from vbas_desktop.app.release import release_solution
from vbas_desktop.model.findings import InputError
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.ui.state.app_state import AppState
from vbas_desktop.ui.state.opening import OpenProjectRequest, open_project
from vbas_desktop.ui.state.project import read_project


@pytest.fixture
def state(tmp_path):
    state = open_data(*write_data(tmp_path))
    run(state)
    return state


def test_every_solution_of_a_run_knows_its_vector(state):
    for entry in state.entries:
        facts = entry.solution.representability
        assert 0 < facts["jaccard"] <= 1
        assert facts["distance_unit"] == state.regions.system.unit.replace("m", "km")
    assert [s.facts() for s in state.runs[0].result.solutions] == [
        e.solution.facts() for e in state.entries
    ]


def test_a_requirement_tells_solutions_apart(state):
    values = sorted(entry.solution.representability["jaccard"] for entry in state.entries)
    state.require(Requirement(overall={"jaccard": {"min": values[-1]}, "precision": {"min": 0.8}}))
    assert sum(state.meets_requirement(entry) for entry in state.entries) == values.count(values[-1])
    worst = min(state.entries, key=lambda entry: entry.solution.representability["jaccard"])
    assert [row.status for row in state.criteria(worst)] == [
        RequirementStatus.NOT_MET,
        RequirementStatus.OK,
    ]


def test_columns_level_and_k_are_checkable(state):
    key = state.entries[0].run.key
    state.require(
        Requirement(
            required_quasi_identifiers=key.quasi_identifiers,
            highest_level={key.quasi_identifiers[0]: 0},
            required_sensitive=("illness", "person"),
            no_aggregation=True,
            k={"min": key.k},
        )
    )
    verdicts = {row.name: row.status for row in state.criteria(state.entries[0])}
    missed = [name for name, verdict in verdicts.items() if verdict is not RequirementStatus.OK]
    assert missed == ["Sensitive column person"]


def test_requirement_and_notes_come_back_with_the_project(state, tmp_path):
    state.require(Requirement(title="Cohort", overall={"jaccard": {"min": 0.1}}, later=1))
    state.set_policy_notes(
        state.policy.with_note("dpm-5", "kept").with_signature("A. Custodian", "2024-05-01")
    )
    state.snapshot().write(tmp_path / "work.vbas")
    again = AppState()
    again.accept_project(open_project(OpenProjectRequest(tmp_path / "work.vbas")))
    assert again.requirement == state.requirement
    assert again.policy == state.policy
    assert not again.modified
    assert again.entries[0].solution.facts() == state.entries[0].solution.facts()


def test_a_project_whose_requirement_contradicts_itself_is_refused_with_the_reason(state, tmp_path):
    state.snapshot().write(tmp_path / "work.vbas")
    document = json.loads((tmp_path / "work.vbas").read_text())
    document["requirement"] = {"format_version": 1, "weights": {"age": 0.5, "sex": 0.6}}
    (tmp_path / "work.vbas").write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"add up to 1\.1"):
        read_project(tmp_path / "work.vbas")


def test_the_check_of_a_requirement_is_printed_for_the_file_and_not_for_the_recipient(state, tmp_path):
    state.require(Requirement(overall={"precision": {"min": 0.99}}, k={"min": 2}))
    options = ReleaseOptions(identifiers=("person",), pdf=False)
    release_solution(state.request_release(state.entries[0], options, tmp_path / "out"))
    inside = (tmp_path / "out/internal/report.html").read_text(encoding="utf-8")
    outside = (tmp_path / "out/release/report.html").read_text(encoding="utf-8")
    for text in (">The requirement</h2>", "1 of 2 are not met.", "at least 0.99"):
        assert text in inside
        assert text not in outside
    assert (
        json.loads((tmp_path / "out/run.json").read_text())["requirement_check"][0]["verdict"]
        == "not met"
    )


def test_what_export_was_set_to_comes_back_with_the_project(state, tmp_path):
    options = ReleaseOptions(
        identifiers=("person",), shuffle=False, renames={"age": "years"}, record_key="key"
    )
    state.request_release(state.entries[0], options, tmp_path / "out")
    state.snapshot().write(tmp_path / "work.vbas")
    again = AppState()
    again.accept_project(open_project(OpenProjectRequest(tmp_path / "work.vbas")))
    assert again.policy.export == ExportChoices(shuffle=False, renames=1, record_key=True)


def test_the_checklist_is_printed_for_the_file_and_not_for_the_recipient(state, tmp_path):
    state.set_policy_notes(
        state.policy.with_note("dpm-5", "The registry keeps the list.").with_signature(
            "A. Custodian", "2024-05-01"
        )
    )
    options = ReleaseOptions(identifiers=("person",), pdf=False)
    release_solution(state.request_release(state.entries[0], options, tmp_path / "out"))
    inside = (tmp_path / "out/internal/report.html").read_text(encoding="utf-8")
    outside = (tmp_path / "out/release/report.html").read_text(encoding="utf-8")
    for text in (
        "Policy checklist",
        "The registry keeps the list.",
        "Signed by A. Custodian on 2024-05-01.",
    ):
        assert text in inside
        assert text not in outside
