"""Requirement and policy notes belong to the session, its project file and its releases."""

import json

import pytest
from made_up_sessions import open_data, run, write_data

from vbas_desktop.assessment.policy import ExportChoices
from vbas_desktop.assessment.representability.requirement import Requirement, Verdict
from vbas_desktop.model.errors import InputError
from vbas_desktop.release import ReleaseOptions
from vbas_desktop.session.opening import OpenProjectOrder
from vbas_desktop.session.project import read_project
from vbas_desktop.session.session import Session


@pytest.fixture
def session(tmp_path):
    session = open_data(*write_data(tmp_path))
    run(session)
    return session


def test_every_solution_of_a_run_knows_its_vector(session):
    for entry in session.entries:
        facts = entry.solution.representability
        assert 0 < facts["jaccard"] <= 1
        assert facts["distance_unit"] == session.regions.system.unit.replace("m", "km")
    assert [s.facts() for s in session.runs[0].result.solutions] == [e.solution.facts() for e in session.entries]


def test_a_requirement_tells_solutions_apart(session):
    values = sorted(entry.solution.representability["jaccard"] for entry in session.entries)
    session.require(Requirement(overall={"jaccard": {"min": values[-1]}, "precision": {"min": 0.8}}))
    assert sum(session.meets_requirement(entry) for entry in session.entries) == values.count(values[-1])
    worst = min(session.entries, key=lambda entry: entry.solution.representability["jaccard"])
    assert [row.verdict for row in session.criteria(worst)] == [Verdict.NOT_MET, Verdict.OK]


def test_columns_level_and_k_are_checkable(session):
    key = session.entries[0].run.key
    session.require(
        Requirement(
            required_quasi_identifiers=key.quasi_identifiers,
            highest_level={key.quasi_identifiers[0]: 0},
            required_sensitive=("illness", "person"),
            no_aggregation=True,
            k={"min": key.k},
        )
    )
    verdicts = {row.name: row.verdict for row in session.criteria(session.entries[0])}
    missed = [name for name, verdict in verdicts.items() if verdict is not Verdict.OK]
    assert missed == ["Sensitive column person"]


def test_requirement_and_notes_come_back_with_the_project(session, tmp_path):
    session.require(Requirement(title="Cohort", overall={"jaccard": {"min": 0.1}}, extra={"later": 1}))
    session.note_policy(session.policy.noted("dpm-5", "kept").signed("A. Custodian", "2024-05-01"))
    session.snapshot().write(tmp_path / "work.vbas")
    again = Session()
    again.accept_project(OpenProjectOrder(tmp_path / "work.vbas").execute())
    assert again.requirement == session.requirement
    assert again.policy == session.policy
    assert not again.modified
    assert again.entries[0].solution.facts() == session.entries[0].solution.facts()


def test_a_project_whose_requirement_contradicts_itself_is_refused_with_the_reason(session, tmp_path):
    session.snapshot().write(tmp_path / "work.vbas")
    document = json.loads((tmp_path / "work.vbas").read_text())
    document["requirement"] = {"format_version": 1, "weights": {"age": 0.5, "sex": 0.6}}
    (tmp_path / "work.vbas").write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"add up to 1\.1"):
        read_project(tmp_path / "work.vbas")


def test_the_check_of_a_requirement_is_printed_for_the_file_and_not_for_the_recipient(session, tmp_path):
    session.require(Requirement(overall={"precision": {"min": 0.99}}, k={"min": 2}))
    options = ReleaseOptions(identifiers=("person",), pdf=False)
    session.order_release(session.entries[0], options, tmp_path / "out").execute()
    inside = (tmp_path / "out/internal/report.html").read_text(encoding="utf-8")
    outside = (tmp_path / "out/release/report.html").read_text(encoding="utf-8")
    for text in ("<h2>The requirement</h2>", "1 of 2 are not met.", "at least 0.99"):
        assert text in inside
        assert text not in outside
    assert json.loads((tmp_path / "out/run.json").read_text())["requirement_check"][0]["verdict"] == "not met"


def test_what_export_was_set_to_comes_back_with_the_project(session, tmp_path):
    options = ReleaseOptions(identifiers=("person",), shuffle=False, renames={"age": "years"}, record_key="key")
    session.order_release(session.entries[0], options, tmp_path / "out")
    session.snapshot().write(tmp_path / "work.vbas")
    again = Session()
    again.accept_project(OpenProjectOrder(tmp_path / "work.vbas").execute())
    assert again.policy.export == ExportChoices(shuffle=False, renames=1, record_key=True)


def test_the_checklist_is_printed_for_the_file_and_not_for_the_recipient(session, tmp_path):
    session.note_policy(
        session.policy.noted("dpm-5", "The registry keeps the list.").signed("A. Custodian", "2024-05-01")
    )
    options = ReleaseOptions(identifiers=("person",), pdf=False)
    order = session.order_release(session.entries[0], options, tmp_path / "out")
    order.execute()
    inside = (tmp_path / "out/internal/report.html").read_text(encoding="utf-8")
    outside = (tmp_path / "out/release/report.html").read_text(encoding="utf-8")
    for text in ("Policy checklist", "The registry keeps the list.", "Signed by A. Custodian on 2024-05-01."):
        assert text in inside
        assert text not in outside
