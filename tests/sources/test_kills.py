"""A killed program leaves nothing at its targets, and the next one removes what it left beside them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pytest
from making import regions_file
from places import in_folder
from test_datasets import table
from test_targets import RUN, released, rows_at, there

from vbas_desktop.cli.main import main
from vbas_desktop.sources.targets import STAGING

PROGRAM = Path(__file__).with_name("killed.py")


def arguments(records: str, tmp_path, target: str) -> list[str]:
    given = ["--format", "parquet", "--out", str(tmp_path / "out"), "--target", target]
    return ["run", records, str(regions_file(tmp_path)), *RUN, *given]


def kill(moment: str, words: list[str], **more: str) -> None:
    """Run the program until the moment, and kill it there."""
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root, **more}
    with subprocess.Popen(
        [sys.executable, str(PROGRAM), moment, *words],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
    ) as child:  # fmt: skip
        said = child.stdout.readline()
        if said != b"there\n":
            child.kill()
        assert said == b"there\n", child.communicate()[1].decode()
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()
        assert child.returncode == -signal.SIGKILL


def hidden(folder: Path) -> list[str]:
    return sorted(path.name.partition(".vbas-")[0] for path in folder.iterdir() if path.name.startswith("."))


@pytest.mark.parametrize(("moment", "left"), [("rows", [".out"]), ("copy", [".given"])], ids=str)
def test_files(moment, left, tmp_path):
    words = arguments(in_folder(table(), tmp_path / "visits"), tmp_path, f"{tmp_path}/given")
    kill(moment, words)
    assert not (tmp_path / "given").exists()
    assert (tmp_path / "out").exists() == (moment != "rows")
    assert hidden(tmp_path) == left
    # Rows that wait to be shuffled are in a file without a name, which went with the process.
    assert all(path.stat().st_size == 0 for path in tmp_path.glob(".out.*/release/anonymized.*"))
    assert main(words) == 0
    assert rows_at(there(f"{tmp_path}/given")) == released(tmp_path)
    assert hidden(tmp_path) == []


def staged_tables(file: Path) -> int:
    with duckdb.connect(str(file), read_only=True) as connection:
        query = f"SELECT count(*) FROM duckdb_tables() WHERE starts_with(table_name, '{STAGING}')"
        return connection.execute(query).fetchone()[0]


def test_a_table_of_a_duckdb_file(tmp_path):
    file = tmp_path / "house.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(f"CREATE TABLE mine AS SELECT 7 AS a; CREATE TABLE {STAGING}mine AS SELECT 8 AS a")
    words = arguments(in_folder(table(), tmp_path / "visits"), tmp_path, f"{file}#main.given")
    kill("staged", words)
    with duckdb.connect(str(file), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'given'").fetchone() == (0,)
    assert staged_tables(file) == 2
    assert main(words) == 0
    assert rows_at(there(f"{file}#main.given")) == released(tmp_path)
    # What has the name but not the owner's mark stays.
    assert staged_tables(file) == 1


@pytest.mark.xdist_group("postgresql")
@pytest.mark.parametrize(("moment", "staged"), [("rows", 0), ("copy", 1)])
def test_a_server(moment, staged, server, password, tmp_path):
    from test_postgresql import VISITS

    server.run("DROP TABLE IF EXISTS visits CASCADE", "DROP TABLE IF EXISTS handed", VISITS.replace("region", "place"))
    words = arguments(server.address("public.visits"), tmp_path, server.address("public.handed"))
    kill(moment, [*words, "--allow-column", "note,ill,sex"])
    gone = threading.Event()
    for _ in range(400):
        if not server.rows("SELECT 1 FROM pg_stat_activity WHERE application_name = 'vbas-desktop'"):
            gone.set()
            break
        gone.wait(0.05)
    assert gone.is_set()
    listed = f"SELECT count(*) FROM pg_tables WHERE tablename LIKE '{STAGING}%'"
    assert server.rows(listed) == [(staged,)]
    assert server.rows("SELECT count(*) FROM pg_tables WHERE tablename = 'handed'") == [(0,)]
    assert server.rows("SELECT count(*) FROM pg_class WHERE relname = 'vbas_regions'") == [(0,)]
    assert main([*words, "--allow-column", "note,ill,sex"]) == 0
    assert server.rows(listed) == [(0,)]
    assert server.rows("SELECT count(*) FROM handed") == [(len(released(tmp_path)),)]
    assert hidden(tmp_path) == []
