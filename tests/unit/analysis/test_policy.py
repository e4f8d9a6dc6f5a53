"""The policy checklist: what the program knows, what people note, and what a signature stands for."""

import json
from dataclasses import replace
from itertools import product

from vbas_desktop.analysis.checklist import (
    ExportChoices,
    PointState,
    PolicyNotes,
    ReleaseFacts,
    build_checklist_document,
    collect_evidence,
    find_outcomes,
    find_point_state,
    list_open_points,
    load_checklist,
)
from vbas_desktop.cli.main import main

KNOWN = ReleaseFacts(
    roles={"identifier": ("person",), "quasi-identifier": ("age", "sex"), "sensitive": ("illness",)},
    region_column="tract",
    k=5,
    combination="MaxCombs · Density · Voronoi",
    aggregated_regions=12,
    sample_size_ratio=0.98,
    jaccard=0.25,
    mean_distance="3.2 km",
    export=ExportChoices(shuffle=True),
)


def test_the_checklist_has_five_modules_three_choices_and_unique_ids():
    found = load_checklist()
    assert [module.id for module in found.modules] == ["DPM", "PRM", "ANM", "MRM", "EXM"]
    assert [len(module.points) for module in found.modules] == [6, 10, 4, 10, 2]
    assert [choice.id for choice in found.choices] == ["obj-1", "obj-2", "obj-3"]
    assert len({point.id for point in found.points}) == 32
    assert all(point.title and point.steps for point in found.points)


def test_nothing_known_leaves_every_point_open():
    assert collect_evidence(ReleaseFacts()) == {}
    assert len(list_open_points(PolicyNotes(), {})) == 32


def test_what_the_program_knows_is_filled_in_with_its_evidence():
    found = collect_evidence(KNOWN)
    assert found["dpm-6"] == "Not released: person."
    assert found["prm-1"] == "k is 5."
    assert found["anm-1"] == "Solutions are computed and verified with k = 5."
    assert found["mrm-2"] == "Jaccard 0.25, mean distance moved 3.2 km."
    assert found["mrm-9"] == "k = 5; 98 % of the records are released."
    assert found["exm-2"] == "The rows are written in random order; identifiers are dropped."
    assert set(found) <= {point.id for point in load_checklist().points}
    assert [point.id for point in list_open_points(PolicyNotes(), found)] == [
        "dpm-2", "dpm-5", "prm-4", "prm-6", "prm-7", "prm-8", "prm-9", "anm-4", "mrm-8", "exm-1",
    ]  # fmt: skip


def test_filters_record_keys_and_aggregated_columns_settle_their_points():
    chosen = replace(
        KNOWN, export=ExportChoices(shuffle=False, record_key=True, aggregated=1), is_filtered=True
    )
    found = collect_evidence(chosen)
    assert found["dpm-5"] == "Every record gets a random key; the index of the keys stays inside."
    assert found["prm-9"] == "Records are chosen by a file of required or unwanted combinations."
    assert found["prm-10"] == "1 sensitive column is released as one value per class."
    assert "exm-2" not in found


def test_whether_other_columns_lead_to_a_person_waits_for_a_note_whatever_is_marked():
    known = collect_evidence(KNOWN)
    assert known["dpm-2"] == "Marked as identifiers: person."
    assert find_point_state("dpm-1", PolicyNotes(), known) is PointState.KNOWN
    assert find_point_state("dpm-2", PolicyNotes(), known) is PointState.OPEN
    assert (
        find_point_state("dpm-2", PolicyNotes().with_note("dpm-2", "Looked at all columns."), known)
        is PointState.NOTED
    )


def test_a_note_settles_a_point_and_taking_it_back_opens_it_again():
    notes = PolicyNotes().with_note("dpm-5", "Key list kept by the registry.")
    assert find_point_state("dpm-5", notes, {}) is PointState.NOTED
    assert find_point_state("dpm-5", notes.with_note("dpm-5", "  "), {}) is PointState.OPEN


def test_a_change_after_signing_takes_the_signature_away():
    signed = (
        PolicyNotes()
        .with_note("dpm-5", "kept")
        .with_choice("obj-1", "data oriented")
        .with_signature("A. Custodian", "2024-05-01")
    )
    assert (signed.signed_by, signed.signed_on) == ("A. Custodian", "2024-05-01")
    assert signed.with_note("dpm-5", "kept") is signed
    assert signed.with_note("dpm-5", "other").signed_by == ""
    assert signed.with_choice("obj-1", "research oriented").signed_on == ""
    assert PolicyNotes().with_signature("  ", "2024-05-01").signed_on == ""


def test_notes_survive_a_file_with_fields_that_are_not_known_yet():
    data = {
        "notes": {"dpm-5": "kept"},
        "choices": {},
        "signed_by": "",
        "signed_on": "",
        "reviewers": ["B"],
    }
    assert PolicyNotes.from_json(data).as_json() == data


def test_the_document_lists_every_point_with_state_evidence_and_note():
    document = build_checklist_document(
        PolicyNotes().with_note("prm-6", "all alike"), collect_evidence(KNOWN)
    )
    by_id = {point["id"]: point for point in document["points"]}
    assert by_id["prm-6"]["note"] == "all alike"
    assert by_id["prm-6"]["state"] == "settled by a note"
    assert by_id["prm-1"]["state"] == "known to the program"
    assert by_id["dpm-5"]["state"] == "open"


def test_every_combination_of_choices_leads_somewhere():
    """As in Table 5.2: six rows, of which two hold for aggregated and for person-specific releases."""
    options = [choice.options for choice in load_checklist().choices]
    found = {
        answers: find_outcomes(dict(zip(("obj-1", "obj-2", "obj-3"), answers, strict=True)))
        for answers in product(*options)
    }
    assert len(set(found.values())) == 6
    assert [len(each.outcomes) for each in load_checklist().combinations] == [4, 5, 6, 5, 6, 8]
    for who, way, what in found:
        outcomes = " ".join(found[who, way, what])
        assert ("recipient is not known" in outcomes) == (who == "data oriented")
        assert ("knows the bias" in outcomes) == (what == "reported to the recipient")
        if what == "kept internal":
            assert ("ecological studies only" in outcomes) == (way == "aggregated")
    assert (
        found["data oriented", "aggregated", "reported to the recipient"]
        == (found["data oriented", "person specific", "reported to the recipient"])
    )


def test_open_choices_lead_nowhere_unless_they_make_no_difference():
    assert find_outcomes({}) == ()
    assert find_outcomes({"obj-1": "data oriented", "obj-3": "kept internal"}) == ()
    decided = {"obj-1": "research oriented", "obj-3": "reported to the recipient"}
    assert find_outcomes(decided)[-1] == "It meets what a comprehensive policy asks for."
    notes = PolicyNotes(choices=decided)
    assert build_checklist_document(notes, {})["outcomes"] == list(find_outcomes(decided))
    assert build_checklist_document(PolicyNotes(), {})["outcomes"] == []


def test_the_command_lists_what_the_choices_lead_to(capsys):
    assert main(["policies", "strategies"]) == 0
    said = capsys.readouterr().out
    assert "research oriented · either · reported to the recipient" in said
    assert said.count("  - ") == 34
    assert main(["policies", "strategies", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [choice["id"] for choice in printed["choices"]] == ["obj-1", "obj-2", "obj-3"]
    assert len(printed["combinations"]) == 6
