"""The session: guesses roles, says why it cannot run, keeps results and one selection, drops what is stale."""

from __future__ import annotations

from made_up_sessions import open_data, run, write_data

from vbas_desktop.model.records import Role
from vbas_desktop.session.estimate import estimate
from vbas_desktop.session.events import Event
from vbas_desktop.session.session import Session


def test_the_region_column_is_found_by_the_ids_of_a_region_map(tmp_path):
    records, regions = write_data(tmp_path)
    ids = sorted({line.rpartition(",")[2] for line in records.read_text().splitlines()[1:]})
    text = records.read_text()
    for each in ids:
        text = text.replace(f",{each}\n", f",area {each}\n")
    records.write_text(text)
    (tmp_path / "map.csv").write_text("from,to\n" + "".join(f"area {each},{each}\n" for each in ids))
    session = open_data(records, regions)
    assert session.choices.region_column is None
    session.change_reading(region_map=str(tmp_path / "map.csv"))
    session.accept_data(session.order_load(records, regions).execute(), fresh=False)
    assert session.choices.region_column == "tract"
    run(session)
    assert session.entries[0].problem.counts.records == 2000


def test_roles_are_guessed_from_the_content(session):
    assert dict(session.choices.roles) == {
        "person": Role.IDENTIFIER,
        "age": Role.QUASI_IDENTIFIER,
        "sex": Role.QUASI_IDENTIFIER,
        "illness": Role.SENSITIVE,
        "tract": Role.REGION,
    }


def test_an_empty_session_says_what_to_do_first():
    assert Session().why_not_run() == "Open a record file and a region file first."


def test_missing_roles_are_told_one_at_a_time(session):
    session.change(session.choices.with_role("tract", Role.PLAIN))
    assert "which column names the region" in session.why_not_run()
    session.undo()
    for column in ("age", "sex"):
        session.change(session.choices.with_role(column, Role.PLAIN))
    assert session.why_not_run() == "Choose at least one quasi-identifier."


def test_a_wrong_parameter_is_the_reason(session):
    session.change(session.choices.with_parameter("site_number", "limit", "allowed_loss_percent", -1.0))
    assert "“Allowed loss (percent)” must be" in session.why_not_run()


def test_a_run_streams_solutions_and_selects_the_recommended_one(session):
    session.change(
        session.choices.with_approach("site_number", "fixed").with_parameter("site_number", "fixed", "sites", 10)
    )
    told = []
    session.subscribe(told.append)
    run(session)
    assert [entry.solution.site_count for entry in session.entries] == [8, 9, 10, 11, 12]
    fitting = [entry for entry in session.entries if entry.solution.suppressed_share <= 0.01]
    finest = min(fitting, key=lambda entry: entry.solution.measures["place_information_loss"])
    assert session.selected is finest
    assert session.marks[finest.number].recommended
    assert told.count(Event.SOLUTION_ADDED) == 5
    assert session.selected.problem.counts.records == 2000


def test_solutions_of_a_stale_run_are_dropped(session, data):
    order = session.order_run()
    solutions = []
    result = order.execute(on_solution=solutions.append)
    session.accept_data(session.order_load(*data).execute())
    assert session.add_solution(order.run_id, solutions[0]) is None
    session.finish_run(order.run_id, result)
    assert session.entries == ()


def test_a_stopped_run_keeps_what_was_finished(session):
    order = session.order_run()
    solutions = []
    order.execute(on_solution=solutions.append)
    session.add_solution(order.run_id, solutions[0])
    session.close_run(order.run_id)
    assert len(session.entries) == 1
    assert session.add_solution(order.run_id, solutions[-1]) is None


def test_another_k_needs_no_new_counts_but_other_quasi_identifiers_do(session):
    run(session)
    counts = session.problem.counts
    session.change_fields(k=7)
    assert session.problem.k == 7
    assert session.problem.counts is counts
    session.change(session.choices.with_role("illness", Role.QUASI_IDENTIFIER))
    assert session.problem is None
    session.undo()
    assert session.problem.counts is counts


def test_numbers_of_solutions_are_never_used_again(session):
    run(session)
    first = [entry.number for entry in session.entries]
    session.remove(first)
    assert session.selected is None
    run(session)
    assert min(entry.number for entry in session.entries) > max(first)


def test_pinning_marks_one_solution(session):
    run(session)
    number = session.entries[0].number
    session.pin([number])
    assert [entry.pinned for entry in session.entries].count(True) == 1
    assert session.entry(number).pinned


def test_choosing_another_solution_forgets_the_chosen_region(session):
    run(session)
    session.choose_region(0)
    session.select(None)
    assert session.chosen_region is None


def test_other_files_begin_with_the_usual_settings_and_no_results(session, tmp_path):
    run(session)
    session.change_fields(coordinates="degrees", k=9)
    other = write_data(tmp_path / "other", seed=1)
    session.accept_data(session.order_load(*other).execute())
    assert session.choices.coordinates == "auto"
    assert session.choices.k == 5
    assert session.entries == ()


def test_reading_changed_records_again_makes_results_outdated(data):
    session = open_data(*data)
    run(session)
    records = data[0].read_text().splitlines()
    data[0].write_text("\n".join(records[:-1]) + "\n")
    session.accept_data(session.order_load(*data).execute(), fresh=False)
    assert all(entry.run.outdated for entry in session.entries)
    assert session.entries


def test_reading_unchanged_files_again_counts_nothing_again(data):
    session = open_data(*data)
    run(session)
    regions, counts = session.regions, session.problem.counts
    session.accept_data(session.order_load(*data).execute(), fresh=False)
    assert session.regions is regions
    assert session.problem.counts is counts


def test_changed_records_are_counted_anew(data):
    session = open_data(*data)
    run(session)
    data[0].write_text("\n".join(data[0].read_text().splitlines()[:-1]) + "\n")
    session.accept_data(session.order_load(*data).execute(), fresh=False)
    assert session.problem is None


def test_the_estimate_is_told_in_one_line(session):
    look_ahead = estimate(session.order_estimate())
    assert look_ahead.in_words == "7 × 2 = 14 classes; 2,000 records; 11 sites lose 0 %, allowed 1 %"
    session.change(session.choices.with_approach("site_number", "maxcombs"))
    assert estimate(session.order_estimate()).in_words.endswith("2,000 records; approximated 1 site")
    session.change(
        session.choices.with_approach("site_number", "fixed").with_parameter("site_number", "fixed", "sites", 10)
    )
    assert estimate(session.order_estimate()).site_numbers == (8, 9, 10, 11, 12)


def test_listeners_can_leave(session):
    told = []
    leave = session.subscribe(told.append)
    leave()
    session.change_fields(k=8)
    assert told == []


def test_columns_about_health_are_guessed_sensitive(tmp_path):
    records, regions = write_data(tmp_path)
    text = records.read_text().replace("person,age,sex,illness,tract", "person,age,sex,ICD10_code,tract")
    records.write_text(text)
    roles = open_data(records, regions).choices.roles
    assert roles["ICD10_code"] is Role.SENSITIVE
    assert open_data(*write_data(tmp_path / "other")).choices.roles["illness"] is Role.SENSITIVE
    records.write_text(text.replace("ICD10_code", "label"))
    assert open_data(records, regions).choices.roles["label"] is Role.PLAIN


def test_regions_read_again_with_other_ids_or_obstacles_are_taken_over(tmp_path):
    """What was made of the regions stays only if they are really the same."""
    (tmp_path / "records.csv").write_text("age,region\n" + "1,a\n2,b\n" * 4)
    (tmp_path / "regions.csv").write_text("id,code,x,y\na,A,0,0\nb,B,9,9\n")
    line = '{"type": "LineString", "coordinates": [[4, 0], [4, 9]]}'
    (tmp_path / "river.geojson").write_text(line)
    session = Session()
    files = tmp_path / "records.csv", tmp_path / "regions.csv"
    session.accept_data(session.order_load(*files).execute())
    first = session.regions
    session.accept_data(session.order_load(*files).execute(), fresh=False)
    assert session.regions is first
    session.change_reading(obstacles=(str(tmp_path / "river.geojson"),))
    session.accept_data(session.order_load(*files).execute(), fresh=False)
    assert session.regions.obstacles is not None
    session.change_reading(id_column="code")
    session.accept_data(session.order_load(*files).execute(), fresh=False)
    assert session.regions.ids == ("A", "B")
