"""Editing by hand: after any strokes, the figures are those of a full recount, and undo leads back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.algorithms.aggregation import aggregate, dense_membership
from vbas_desktop.algorithms.region_graph import count_pieces, find_neighbours
from vbas_desktop.app.region_edit import EditFigures, RegionEdit
from vbas_desktop.io.regions.crosswalk import load_given_partition
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem, Regions

K = 4


def make_problem(side: int, seed: int = 0, n_classes: int = 3, unknown: int = 0) -> Problem:
    """A grid of side × side regions with random counts."""
    draw = np.random.default_rng(seed)
    points = np.array([(x, y) for y in range(side) for x in range(side)], float)
    regions = Regions(
        tuple(f"r{i}" for i in range(side * side)), points, CoordinateSystem(CoordinateKind.PLANAR)
    )
    matrix = draw.integers(0, 4, (side * side, n_classes))
    counts = ClassCounts.from_matrix((n_classes,), np.arange(n_classes), matrix)
    return Problem(regions, counts, K, ("age",), (), "region", unknown_region_records=unknown)


def recount(problem: Problem, membership) -> EditFigures:
    """Count everything from scratch."""
    dense, used = dense_membership(membership)
    sizes = aggregate(problem.counts, dense, used.size).sizes
    released = sizes[sizes >= problem.k]
    pieces = count_pieces(problem.regions, dense)
    return EditFigures(
        regions=int(used.size),
        in_pieces=int((pieces > 1).sum()),
        suppressed=int(sizes[sizes < problem.k].sum()) + problem.unknown_region_records,
        smallest_class=int(released.min()) if released.size else None,
    )


def make_edit(problem: Problem, membership) -> RegionEdit:
    return RegionEdit(problem, np.asarray(membership, np.int32), find_neighbours(problem.regions))


SIDE = 5
REGION = st.integers(0, SIDE * SIDE - 1)
CHANGES = st.one_of(
    st.tuples(st.just("move"), st.lists(REGION, min_size=1, max_size=6), REGION),
    st.tuples(st.just("merge"), REGION, REGION),
    st.tuples(st.just("split"), REGION),
    st.tuples(st.just("lock"), REGION, st.booleans()),
    st.tuples(st.just("undo")),
    st.tuples(st.just("redo")),
)


def apply(edit: RegionEdit, change) -> None:
    """Do one change; initial regions stand for their aggregated regions."""
    kind, *values = change
    if kind == "move":
        with edit.stroke("painting"):
            edit.move(values[0], int(edit.membership[values[1]]))
    elif kind == "merge":
        edit.merge(*(int(edit.membership[value]) for value in values))
    elif kind == "split":
        edit.split(int(edit.membership[values[0]]))
    elif kind == "lock":
        edit.lock(int(edit.membership[values[0]]), values[1])
    else:
        getattr(edit, kind)()


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 1000), st.integers(1, 6), st.lists(CHANGES, max_size=25))
def test_figures_after_any_changes_are_those_of_a_full_recount(seed, n_regions, changes):
    problem = make_problem(SIDE, seed, unknown=seed % 3)
    start = np.random.default_rng(seed).integers(0, n_regions, SIDE * SIDE)
    edit = make_edit(problem, dense_membership(start)[0])
    assert edit.figures == recount(problem, edit.membership)
    for change in changes:
        locked = {region: edit.list_members(region).tolist() for region in edit.locked}
        apply(edit, change)
        assert edit.figures == recount(problem, edit.membership)
        if change[0] in ("move", "merge", "split"):
            assert {region: edit.list_members(region).tolist() for region in locked} == locked


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 1000), st.lists(CHANGES, max_size=15))
def test_undo_leads_back_to_the_solution_and_redo_to_the_edit(seed, changes):
    problem = make_problem(SIDE, seed)
    start = np.arange(SIDE * SIDE) // SIDE
    edit = make_edit(problem, start)
    for change in changes:
        if change[0] not in ("undo", "redo"):
            apply(edit, change)
    edited = edit.membership.copy()
    locked = edit.locked
    names = []
    while edit.undo_name is not None:
        names.append(edit.undo_name)
        assert edit.undo() == names[-1]
    assert edit.membership.tolist() == start.tolist()
    assert (edit.locked, edit.moved.size) == (frozenset(), 0)
    while edit.redo_name is not None:
        assert edit.redo() == names.pop()
    assert (edit.membership.tolist(), edit.locked) == (edited.tolist(), locked)
    assert edit.undo() is None or names == []


def test_a_stroke_of_several_moves_is_one_step():
    edit = make_edit(make_problem(3), [0, 0, 0, 1, 1, 1, 2, 2, 2])
    edit.begin_stroke("painting")
    assert (edit.move([3], 0), edit.move([3, 4], 0), edit.move([0], 0)) == (1, 1, 0)
    edit.end_stroke()
    assert edit.membership.tolist() == [0, 0, 0, 0, 0, 1, 2, 2, 2]
    assert edit.undo() == "painting"
    assert (edit.moved.size, edit.undo()) == (0, None)


def test_a_stroke_that_changes_nothing_is_no_step():
    edit = make_edit(make_problem(3), [0, 0, 0, 1, 1, 1, 2, 2, 2])
    with edit.stroke("painting"):
        edit.move([0, 1], 0)
    assert edit.undo_name is None


def test_a_new_change_forgets_what_was_undone():
    edit = make_edit(make_problem(3), [0, 0, 0, 1, 1, 1, 2, 2, 2])
    edit.merge(0, 1)
    edit.undo()
    edit.merge(2, 1)
    assert edit.redo_name is None


def test_pieces_are_split_off_and_one_piece_is_halved_by_records():
    matrix = np.array([[9], [1], [1], [1], [1], [1]])
    points = np.array([(x, 0.0) for x in (0, 1, 2, 3, 4, 5)])
    regions = Regions(tuple("abcdef"), points, CoordinateSystem(CoordinateKind.PLANAR))
    problem = Problem(
        regions, ClassCounts.from_matrix((1,), np.arange(1), matrix), K, ("age",), (), "region"
    )
    edit = make_edit(problem, [0, 0, 0, 1, 0, 0])
    assert edit.split(0) == 2
    assert edit.membership.tolist() == [0, 0, 0, 1, 2, 2]
    assert edit.name(2) == "new 1"
    edit.undo()
    edit.merge(1, 0)
    # Half of 14 records is reached with the first region already.
    assert edit.split(0) == 2
    assert edit.membership[0] != edit.membership[1]
    assert len(set(edit.membership[1:].tolist())) == 1


def test_what_touches_a_region_is_listed():
    edit = make_edit(make_problem(3), [0, 0, 0, 1, 1, 1, 2, 2, 2])
    assert edit.list_neighbours(0) == [1]
    assert edit.list_neighbours(1) == [0, 2]
    assert edit.list_touching(0).tolist() == [3, 4, 5]


def test_a_saved_edit_is_read_by_the_construction_given(tmp_path):
    problem = make_problem(3)
    edit = make_edit(problem, [0, 0, 0, 1, 1, 1, 2, 2, 2])
    edit.move([3], 0)
    path = tmp_path / "edited.csv"
    edit.save(path)
    assert load_given_partition(str(path), problem.regions.ids).region.tolist() == [
        0,
        0,
        0,
        0,
        1,
        1,
        2,
        2,
        2,
    ]


def test_an_edit_is_not_saved_over_the_files_that_are_open(tmp_path):
    path = tmp_path / "regions.csv"
    path.write_text("id,x,y\n")
    edit = make_edit(make_problem(3), [0, 0, 0, 1, 1, 1, 2, 2, 2])
    with pytest.raises(InputError):
        edit.save(path, inputs=[path])
    assert path.read_text() == "id,x,y\n"
