"""Compiled loops are made ready beside the work: once in a process, and whoever waits for them can be stopped."""

import os
import subprocess
import sys
import threading
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tests.problem_making import problem_of, regions_of
from vbas_desktop.algorithms import ahead, compiled
from vbas_desktop.algorithms.adc import search as adc_search
from vbas_desktop.algorithms.ahead import make_ready
from vbas_desktop.approaches.registry import make
from vbas_desktop.approaches.site_location import adc as adc_approach
from vbas_desktop.assessment.risky import table
from vbas_desktop.engine.run import run
from vbas_desktop.io.counting.problem import build_problem
from vbas_desktop.io.records import table as records
from vbas_desktop.model.problem import Request
from vbas_desktop.model.progress import Cancelled, Silent
from vbas_desktop.release import ReleaseOptions, write
from vbas_desktop.screening import heuristic
from vbas_desktop.screening.planners import planner
from vbas_desktop.screening.task import Task

ROOT = Path(__file__).parents[3]


def run_apart(arguments, patience=120, **environment):
    """Run Python code in a process of its own."""
    paths = os.pathsep.join(filter(None, sys.path))
    return subprocess.run(
        [sys.executable, "-c", *arguments],
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        timeout=patience,
    )


class Compiler:
    """Stands for a compiler that takes as long as the test wants."""

    def __init__(self) -> None:
        self.begun = 0
        self.may_end = threading.Event()

    def rehearse(self) -> None:
        self.begun += 1
        self.may_end.wait()


@pytest.fixture
def compiler(monkeypatch):
    """A rehearsal that blocks, under the name of “slow_loops:rehearse”; nothing was made ready before."""
    compiler = Compiler()
    module = ModuleType("slow_loops")
    module.rehearse = compiler.rehearse
    monkeypatch.setitem(sys.modules, "slow_loops", module)
    monkeypatch.setattr(ahead, "_started", {})
    monkeypatch.setattr(compiled, "all_kept", lambda: False)
    yield compiler
    compiler.may_end.set()


class StopAtPoll:
    """Stops at the given call of those that are made while loops are prepared."""

    def __init__(self, poll: int) -> None:
        self.left = poll
        self.others: list[str] = []

    def update(self, stage, fraction=None):
        if not stage.startswith("Preparing"):
            self.others.append(stage)
            return
        self.left -= 1
        if self.left == 0:
            raise Cancelled


def test_waiting_for_the_compiler_can_be_stopped_and_the_next_one_finds_its_work(compiler):
    with pytest.raises(Cancelled):
        make_ready("slow_loops:rehearse", StopAtPoll(3))
    with pytest.raises(Cancelled):
        make_ready("slow_loops:rehearse", StopAtPoll(1))
    compiler.may_end.set()
    make_ready("slow_loops:rehearse", Silent())
    make_ready("slow_loops:rehearse", StopAtPoll(1))
    assert compiler.begun == 1


def test_threads_that_need_the_same_loops_wait_for_one_compilation(compiler):
    reached = threading.Semaphore(0)

    class Waiting:
        def update(self, stage, fraction=None):
            reached.release()

    threads = [threading.Thread(target=make_ready, args=("slow_loops:rehearse", Waiting())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        reached.acquire()
    compiler.may_end.set()
    for thread in threads:
        thread.join()
    assert compiler.begun == 1


def test_what_is_kept_is_not_rehearsed(compiler, monkeypatch):
    monkeypatch.setattr(compiled, "all_kept", lambda: True)
    make_ready("slow_loops:rehearse", StopAtPoll(100))
    assert compiler.begun == 0


def test_a_rehearsal_that_fails_keeps_nobody_waiting(monkeypatch):
    monkeypatch.setattr(ahead, "_started", {})
    make_ready("a_module_that_is_not_there:rehearse", Silent())


@pytest.mark.parametrize("workers", [1, 2])
def test_the_first_adc_run_is_stopped_while_its_loops_are_compiled(compiler, monkeypatch, workers):
    monkeypatch.setattr(adc_approach, "_REHEARSAL", "slow_loops:rehearse")
    problem = problem_of([(x, x * x % 7) for x in range(12)], [[1, x % 3] for x in range(12)], k=3)
    sites, voronoi = make("site_number", "fixed", {"sites": 4}), make("construction", "voronoi")
    request = Request(problem, sites, make("site_location", "adc"), voronoi, workers=workers)
    progress = StopAtPoll(4)
    with pytest.raises(Cancelled):
        run(request, progress)
    assert compiler.begun == 1
    assert not [stage for stage in progress.others if stage.startswith("Anonymity-driven clustering")]


def test_adc_has_one_compiled_version_of_each_loop_which_the_rehearsal_makes():
    from vbas_desktop.algorithms.adc import search as adc
    from vbas_desktop.algorithms.adc import search as adc_rehearsal
    from vbas_desktop.algorithms.adc import state as adc_state

    adc_rehearsal.rehearse()
    loops = (adc.advance, adc_state.begin, adc_state._holders)
    made = [loop.signatures for loop in loops]
    assert [len(signatures) for signatures in made] == [1, 1, 1]
    for matrix in (np.ones((9, 3), int), np.eye(9, 20, dtype=int)):
        problem = problem_of([(x, x * x % 5) for x in range(9)], matrix, k=3, sparse=matrix.shape[1] == 20)
        for sites in (1, 4):
            request = Request(
                problem,
                make("site_number", "fixed", {"sites": sites}),
                make("site_location", "adc"),
                make("construction", "voronoi"),
                global_suppression=False,
            )
            run(request)
    assert [loop.signatures for loop in loops] == made


LEAVE_WHILE_COMPILING = """
from vbas_desktop.algorithms.ahead import make_ready
from vbas_desktop.model.progress import Cancelled

class Stop:
    left = {polls}
    def update(self, stage, fraction=None):
        self.left -= 1
        if self.left == 0:
            raise Cancelled

try:
    make_ready("vbas_desktop.algorithms.adc.search:rehearse", Stop())
except Cancelled:
    print("stopped")
"""


@pytest.mark.parametrize("polls", [1, 30])
def test_the_program_may_end_while_loops_are_compiled(tmp_path, polls):
    # The cache is empty, so that this is in the midst of importing the compiler or of compiling.
    ended = run_apart([LEAVE_WHILE_COMPILING.format(polls=polls)], NUMBA_CACHE_DIR=str(tmp_path))
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "stopped\n", "")


def test_reading_records_is_stopped_while_its_loops_are_compiled(compiler, monkeypatch, tmp_path):
    monkeypatch.setattr(records, "REHEARSAL", "slow_loops:rehearse")
    file = tmp_path / "records.csv"
    file.write_text("age,region\n1,a\n")
    progress = StopAtPoll(2)
    with pytest.raises(Cancelled):
        records.load_records(file, progress=progress)
    assert (compiler.begun, progress.others) == (1, [])


LOAD_AFTER_THE_REHEARSAL = """
import sys
from pathlib import Path
from numba.core.dispatcher import Dispatcher
from vbas_desktop.algorithms import ahead
from vbas_desktop.io.records.rehearsal import rehearse
from vbas_desktop.io.records import coding, delimited, dictionary, raw as raw_records, table as records, tokens
from vbas_desktop.io.counting import classes as counting
from vbas_desktop.io.counting.problem import build_problem
from vbas_desktop.io.regions.read import load_regions

def versions():
    loops = {loop for module in (coding, counting, delimited, dictionary, raw_records, tokens)
             for loop in vars(module).values() if isinstance(loop, Dispatcher)}
    return {(loop.__name__, signature) for loop in loops for signature in loop.signatures}

sample = Path(sys.argv[1])
ahead._here.rehearsing = True
rehearse()
seen = versions()
table = records.load_records(sample / "records.csv")
regions = load_regions(sample / "regions.geojson")
build_problem(table, regions, region_column="tract", quasi_identifiers=["age", "sex"], k=5)
print(len(seen) > 15, sorted(name for name, _ in versions() - seen))
"""


def test_reading_and_counting_use_the_loops_that_their_rehearsal_made():
    found = run_apart([LOAD_AFTER_THE_REHEARSAL, str(ROOT / "sample_data")])
    assert (found.returncode, found.stdout, found.stderr) == (0, "True []\n", "")


RELEASE_AFTER_THE_REHEARSAL = """
import importlib, pkgutil, sys
from pathlib import Path
from numba.core.dispatcher import Dispatcher
from vbas_desktop import audit, release
from vbas_desktop.algorithms import ahead
from vbas_desktop.approaches.registry import make
from vbas_desktop.model.problem import Request
from vbas_desktop.engine.run import run
from vbas_desktop.io.counting.problem import build_problem
from vbas_desktop.io.records.table import load_records
from vbas_desktop.io.regions.read import load_regions
from vbas_desktop.release.write import rehearse, write_release

rooms = (audit, release, release.records)
names = [f"{room.__name__}.{each.name}" for room in rooms for each in pkgutil.iter_modules(room.__path__)]
modules = [importlib.import_module(name) for name in names]
def versions():
    loops = {loop for module in modules for loop in vars(module).values() if isinstance(loop, Dispatcher)}
    return {(loop.__name__, signature) for loop in loops for signature in loop.signatures}

sample, target = Path(sys.argv[1]), Path(sys.argv[2])
table = load_records(sample / "records.csv")
regions = load_regions(sample / "regions.geojson")
problem = build_problem(table, regions, region_column="tract", quasi_identifiers=["age", "sex"], k=5)
parts = [("site_number", "maxcombs"), ("site_location", "density"), ("construction", "voronoi")]
result = run(Request(problem, *(make(*part) for part in parts), range_reach=0))
ahead._here.rehearsing = True
rehearse()
seen = versions()
for kind in ("csv", "parquet"):
    options = release.ReleaseOptions(identifiers=("health_number",), format=kind, pdf=False)
    write_release(problem, table, result, result.chosen, options, target / kind)
print(len(seen) > 15, sorted(name for name, _ in versions() - seen))
"""


def test_a_release_uses_the_loops_that_its_rehearsal_made(tmp_path):
    found = run_apart([RELEASE_AFTER_THE_REHEARSAL, str(ROOT / "sample_data"), str(tmp_path)])
    assert (found.returncode, found.stdout, found.stderr) == (0, "True []\n", "")


def test_a_release_is_stopped_while_its_loops_are_compiled_and_leaves_nothing(compiler, monkeypatch, tmp_path):
    file = tmp_path / "records.csv"
    file.write_text("colour,region\n" + "red,r0\n" * 6)
    table = records.load_records(file)
    problem = build_problem(table, regions_of([(0, 0)]), region_column="region", quasi_identifiers=["colour"], k=2)
    parts = [("site_number", "maxcombs"), ("site_location", "density"), ("construction", "voronoi")]
    result = run(Request(problem, *(make(*part) for part in parts)))
    monkeypatch.setattr(write, "REHEARSAL", "slow_loops:rehearse")
    with pytest.raises(Cancelled):
        write.write_release(
            problem, table, result, result.chosen, ReleaseOptions(), tmp_path / "out", progress=StopAtPoll(2)
        )
    assert compiler.begun == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["records.csv"]


def test_planning_and_searching_are_stopped_while_their_loops_are_compiled(compiler, monkeypatch, tmp_path):
    monkeypatch.setattr(heuristic, "REHEARSAL", "slow_loops:rehearse")
    monkeypatch.setattr(table, "REHEARSAL", "slow_loops:rehearse")
    with pytest.raises(Cancelled):
        planner("better").plan(Task(np.array([3]), np.array([4])), StopAtPoll(2))
    file = tmp_path / "records.csv"
    file.write_text("age,region\n1,a\n")
    loaded = records.load_records(file)
    with pytest.raises(Cancelled):
        table.Table.of_records(loaded, ["age"], StopAtPoll(2))
    assert compiler.begun == 1


@pytest.mark.parametrize(
    "rehearsal",
    [
        adc_approach._REHEARSAL,
        records.REHEARSAL,
        write.REHEARSAL,
        heuristic.REHEARSAL,
        table.REHEARSAL,
    ],
)
def test_every_rehearsal_is_found_and_succeeds(rehearsal, monkeypatch):
    # What fails is not told by make_ready, so it is called here.
    monkeypatch.setattr(ahead._here, "rehearsing", True, raising=False)
    module, function = rehearsal.split(":")
    getattr(import_module(module), function)()


LOOPS_AFTER_ALL_REHEARSALS = """
import ast, re, sys
from importlib import import_module
from pathlib import Path
sys.path.insert(0, sys.argv[1] + "/packaging")
from compile_kernels import rehearsals
from vbas_desktop.algorithms import ahead, compiled as how

ahead._here.rehearsing = True
for module in rehearsals():
    import_module(module).rehearse()

ways = tuple(name for name in how.__annotations__ if not name.startswith("_"))
marked = "^@(" + "|".join(ways) + ")"

def compiled(function):
    return any(ast.unparse(each).startswith(ways) for each in function.decorator_list)

texts, loops = {}, set()
for path in (Path(sys.argv[1]) / "vbas_desktop").rglob("*.py"):
    name = ".".join(path.relative_to(sys.argv[1]).with_suffix("").parts)
    texts[name] = text = path.read_text(encoding="utf-8")
    if re.search(marked, text, re.MULTILINE):
        tree = ast.parse(text)
        loops |= {(name, each.name) for each in tree.body if isinstance(each, ast.FunctionDef) and compiled(each)}

homes = "|".join({module.split(".")[-1] for module, _ in loops})
mentioned = re.compile(rf"{marked}|^ *from [\\w.]*\\b({homes}) import", re.MULTILINE)
called = set()
for name, text in texts.items():
    if not mentioned.search(text):
        continue
    tree = ast.parse(text)
    known = {loop: (module, loop) for module, loop in loops if module == name}
    for each in ast.walk(tree):
        if isinstance(each, ast.ImportFrom):
            base = name.split(".")[: -each.level] if each.level else []
            source = ".".join([*base, *filter(None, [each.module])])
            known |= {one.asname or one.name: (source, one.name) for one in each.names if (source, one.name) in loops}
    plain = [each for each in tree.body if not (isinstance(each, ast.FunctionDef) and compiled(each))]
    names = {each.id for part in plain for each in ast.walk(part) if isinstance(each, ast.Name)}
    called |= {known[each] for each in names & known.keys()}
print(len(called) > 80, sorted(each for each in called if not getattr(import_module(each[0]), each[1]).signatures))
"""


def test_every_loop_that_python_calls_is_compiled_when_the_program_is_set_up():
    # Where nothing was set up, all of them are compiled here.
    found = run_apart([LOOPS_AFTER_ALL_REHEARSALS, str(ROOT)], patience=900)
    assert (found.returncode, found.stdout, found.stderr) == (0, "True []\n", "")


KEPT_LOOPS_ALONE = """
import sys
from vbas_desktop.algorithms import ahead, compiled
from vbas_desktop.algorithms.adc.search import rehearse
from vbas_desktop.algorithms.hash_table import slot_of
import numba, numpy as np

ahead._here.rehearsing = True
rehearse()
# What only the compiler needs was not loaded,
assert compiled.all_kept() and "numba.np.linalg" not in sys.modules
missed = [loop.__name__ for loop in compiled._loops if loop.stats.cache_misses]
# and it is there when something has to be compiled after all.
look = numba.njit(lambda key, keys: slot_of(key, keys) + np.uint64(np.linalg.norm(np.zeros(2))))
print(missed, look(3, np.full(4, -1)) < 4)
"""


def test_kept_loops_are_loaded_without_the_compiler_which_is_there_when_it_is_needed():
    adc_search.rehearse()
    found = run_apart([KEPT_LOOPS_ALONE])
    assert (found.returncode, found.stdout, found.stderr) == (0, "[] True\n", "")
