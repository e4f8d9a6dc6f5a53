"""Where a block of the file happens to end makes no difference."""

import io

from hypothesis import given, settings
from hypothesis import strategies as st
from release_making import write_regions
from test_nasty_files import REGIONS, SETTINGS, nasty_files, solution_of

from vbas_desktop.engine.problem import build_problem
from vbas_desktop.io.records.table import RecordOptions, load_records
from vbas_desktop.io.regions.read import load_regions
from vbas_desktop.model.progress import Silent
from vbas_desktop.release import ReleaseOptions
from vbas_desktop.release.plan import make_plan
from vbas_desktop.release.records.csv_writer import CsvRecords


@settings(SETTINGS, max_examples=30)
@given(nasty_files(), st.integers(1, 60), st.booleans())
def test_the_release_is_the_same_for_every_block_size(tmp_path_factory, nasty, size, shuffle):
    folder = tmp_path_factory.mktemp("blocks")
    (folder / "records.csv").write_bytes(nasty.bytes)
    table = load_records(folder / "records.csv", RecordOptions(nasty.delimiter, nasty.encoding, "no"))
    regions = load_regions(write_regions(folder, REGIONS))
    problem = build_problem(table, regions, region_column="region", quasi_identifiers=("age",), k=2)
    plan = make_plan(problem, solution_of(problem, 3))
    written = []
    for blocks in (1 << 20, size):
        records = CsvRecords(plan, table, ReleaseOptions(shuffle=shuffle))
        records._blocks._size = blocks
        out = io.BytesIO()
        records.write(out, folder, Silent())
        written.append(out.getvalue())
    assert written[0] == written[1]
