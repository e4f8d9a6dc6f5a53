"""The state: guesses roles, says why it cannot run, keeps results and one selection, drops what is stale."""

from __future__ import annotations

from made_up_sessions import open_data, run, write_data

from vbas_desktop.app.run import run_configuration
from vbas_desktop.model.records import Role
from vbas_desktop.ui.state.app_state import AppState
from vbas_desktop.ui.state.estimate import estimate
from vbas_desktop.ui.state.events import Event
from vbas_desktop.ui.state.requests import open_files


def test_the_region_column_is_found_by_the_ids_of_a_region_map(tmp_path):
    records, regions = write_data(tmp_path)
    ids = sorted({line.rpartition(",")[2] for line in records.read_text().splitlines()[1:]})
    text = records.read_text()
    for each in ids:
        text = text.replace(f",{each}\n", f",area {each}\n")
    records.write_text(text)
    (tmp_path / "map.csv").write_text("from,to\n" + "".join(f"area {each},{each}\n" for each in ids))
    state = open_data(records, regions)
    assert state.choices.region_column is None
    state.change_reading(region_map=str(tmp_path / "map.csv"))
    state.accept_data(open_files(state.request_load(records, regions)), fresh=False)
    assert state.choices.region_column == "tract"
    run(state)
    assert state.entries[0].problem.counts.records == 2000


def test_roles_are_guessed_from_the_content(state):
    assert dict(state.choices.roles) == {
        "person": Role.IDENTIFIER,
        "age": Role.QUASI_IDENTIFIER,
        "sex": Role.QUASI_IDENTIFIER,
        "illness": Role.SENSITIVE,
        "tract": Role.REGION,
    }


def test_an_empty_session_says_what_to_do_first():
    assert AppState().why_not_run() == "Open a record file and a region file first."


def test_missing_roles_are_told_one_at_a_time(state):
    state.change(state.choices.with_role("tract", Role.AS_IS))
    assert "Choose the region column" in state.why_not_run()
    state.undo()
    for column in ("age", "sex"):
        state.change(state.choices.with_role(column, Role.AS_IS))
    assert state.why_not_run() == "Choose at least one quasi-identifier."


def test_a_wrong_parameter_is_the_reason(state):
    state.change(state.choices.with_parameter("site_number", "limit", "allowed_loss_percent", -1.0))
    assert "“Allowed loss (percent)” must be" in state.why_not_run()


def test_a_run_streams_solutions_and_selects_the_recommended_one(state):
    state.change(
        state.choices.with_approach("site_number", "fixed").with_parameter(
            "site_number", "fixed", "sites", 10
        )
    )
    told = []
    state.subscribe(told.append)
    run(state)
    assert [entry.solution.site_count for entry in state.entries] == [8, 9, 10, 11, 12]
    fitting = [entry for entry in state.entries if entry.solution.suppressed_share <= 0.01]
    finest = min(fitting, key=lambda entry: entry.solution.measures["place_information_loss"])
    assert state.selected is finest
    assert state.marks[finest.number].recommended
    assert told.count(Event.SOLUTION_ADDED) == 5
    assert state.selected.problem.counts.records == 2000


def test_solutions_of_a_stale_run_are_dropped(state, data):
    task = state.request_run()
    solutions = []
    result = run_configuration(task.request, on_solution=solutions.append).result
    state.accept_data(open_files(state.request_load(*data)))
    assert state.add_solutions(task.run_id, [solutions[0]]) == []
    state.finish_run(task.run_id, result)
    assert state.entries == ()


def test_solutions_that_come_together_are_listed_in_one_step(state):
    task = state.request_run()
    solutions = []
    run_configuration(task.request, on_solution=solutions.append)
    told = []
    state.subscribe(told.append)
    added = state.add_solutions(task.run_id, solutions)
    assert [entry.solution for entry in added] == solutions
    assert len({entry.number for entry in state.entries}) == len(solutions) > 1
    assert told == [Event.SOLUTION_ADDED]


def test_a_stopped_run_keeps_what_was_finished(state):
    task = state.request_run()
    solutions = []
    run_configuration(task.request, on_solution=solutions.append)
    state.add_solutions(task.run_id, [solutions[0]])
    state.close_run(task.run_id)
    assert len(state.entries) == 1
    assert state.add_solutions(task.run_id, [solutions[-1]]) == []


def test_another_k_needs_no_new_counts_but_other_quasi_identifiers_do(state):
    run(state)
    counts = state.problem.counts
    state.change_fields(k=7)
    assert state.problem.k == 7
    assert state.problem.counts is counts
    state.change(state.choices.with_role("illness", Role.QUASI_IDENTIFIER))
    assert state.problem is None
    state.undo()
    assert state.problem.counts is counts


def test_numbers_of_solutions_are_never_used_again(state):
    run(state)
    first = [entry.number for entry in state.entries]
    state.remove(first)
    assert state.selected is None
    run(state)
    assert min(entry.number for entry in state.entries) > max(first)


def test_pinning_marks_one_solution(state):
    run(state)
    number = state.entries[0].number
    state.pin([number])
    assert [entry.pinned for entry in state.entries].count(True) == 1
    assert state.entry(number).pinned


def test_choosing_another_solution_forgets_the_chosen_region(state):
    run(state)
    state.choose_region(0)
    state.select(None)
    assert state.chosen_region is None


def test_other_files_begin_with_the_usual_settings_and_no_results(state, tmp_path):
    run(state)
    state.change_fields(coordinates="degrees", k=9)
    other = write_data(tmp_path / "other", seed=1)
    state.accept_data(open_files(state.request_load(*other)))
    assert state.choices.coordinates == "auto"
    assert state.choices.k == 5
    assert state.entries == ()


def test_reading_changed_records_again_makes_results_outdated(data):
    state = open_data(*data)
    run(state)
    records = data[0].read_text().splitlines()
    data[0].write_text("\n".join(records[:-1]) + "\n")
    state.accept_data(open_files(state.request_load(*data)), fresh=False)
    assert all(entry.run.outdated for entry in state.entries)
    assert state.entries


def test_reading_unchanged_files_again_counts_nothing_again(data):
    state = open_data(*data)
    run(state)
    regions, counts = state.regions, state.problem.counts
    state.accept_data(open_files(state.request_load(*data)), fresh=False)
    assert state.regions is regions
    assert state.problem.counts is counts


def test_changed_records_are_counted_anew(data):
    state = open_data(*data)
    run(state)
    data[0].write_text("\n".join(data[0].read_text().splitlines()[:-1]) + "\n")
    state.accept_data(open_files(state.request_load(*data)), fresh=False)
    assert state.problem is None


def test_the_estimate_is_told_in_one_line(state):
    look_ahead = estimate(state.request_estimate())
    assert look_ahead.in_words == "7 × 2 = 14 classes; 2,000 records; 11 sites lose 0 %, allowed 1 %"
    state.change(state.choices.with_approach("site_number", "maxcombs"))
    assert estimate(state.request_estimate()).in_words.endswith("2,000 records; approximated 1 site")
    state.change(
        state.choices.with_approach("site_number", "fixed").with_parameter(
            "site_number", "fixed", "sites", 10
        )
    )
    assert estimate(state.request_estimate()).site_numbers == (8, 9, 10, 11, 12)


def test_listeners_can_leave(state):
    told = []
    leave = state.subscribe(told.append)
    leave()
    state.change_fields(k=8)
    assert told == []


def test_columns_about_health_are_guessed_sensitive(tmp_path):
    records, regions = write_data(tmp_path)
    text = records.read_text().replace("person,age,sex,illness,tract", "person,age,sex,ICD10_code,tract")
    records.write_text(text)
    roles = open_data(records, regions).choices.roles
    assert roles["ICD10_code"] is Role.SENSITIVE
    assert open_data(*write_data(tmp_path / "other")).choices.roles["illness"] is Role.SENSITIVE
    records.write_text(text.replace("ICD10_code", "label"))
    assert open_data(records, regions).choices.roles["label"] is Role.AS_IS


def test_regions_read_again_with_other_ids_or_obstacles_are_taken_over(tmp_path):
    """What was made of the regions stays only if they are really the same."""
    (tmp_path / "records.csv").write_text("age,region\n" + "1,a\n2,b\n" * 4)
    (tmp_path / "regions.csv").write_text("id,code,x,y\na,A,0,0\nb,B,9,9\n")
    line = '{"type": "LineString", "coordinates": [[4, 0], [4, 9]]}'
    (tmp_path / "river.geojson").write_text(line)
    state = AppState()
    files = tmp_path / "records.csv", tmp_path / "regions.csv"
    state.accept_data(open_files(state.request_load(*files)))
    first = state.regions
    state.accept_data(open_files(state.request_load(*files)), fresh=False)
    assert state.regions is first
    state.change_reading(obstacles=(str(tmp_path / "river.geojson"),))
    state.accept_data(open_files(state.request_load(*files)), fresh=False)
    assert state.regions.obstacles is not None
    state.change_reading(id_column="code")
    state.accept_data(open_files(state.request_load(*files)), fresh=False)
    assert state.regions.ids == ("A", "B")
