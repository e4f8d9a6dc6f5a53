"""A killed program leaves nothing at its targets, and the next one removes what it left beside them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from making import regions_file
from places import in_folder
from servers import QUICK
from test_datasets import table
from test_targets import RUN, released, rows_at, there

from vbas_desktop.cli.main import main
from vbas_desktop.io.databases.targets import STAGING

PROGRAM = Path(__file__).with_name("killed.py")


def arguments(records: str, tmp_path, target: str) -> list[str]:
    given = ["--format", "parquet", "--out", str(tmp_path / "out"), "--target", target]
    return ["run", records, str(regions_file(tmp_path)), *RUN, *given]


def start(*words: str, **more: str) -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **more}
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([sys.executable, str(PROGRAM), *words], env=environment, **pipes)


def kill(moment: str, words: list[str], **more: str) -> None:
    """Run the program until the moment, and kill it there; when its Java has noticed, all is over."""
    with start(moment, *words, **more) as child:
        said = child.stdout.readline().split()
        if said[:1] != [b"there"]:
            child.kill()
        assert said[:1] == [b"there"], child.communicate()[1].decode()
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()
        assert child.returncode == -signal.SIGKILL
    until(lambda: not running(int(said[1])))


def running(process: int) -> bool:
    """Whether there is such a process; one that nobody has asked how it ended is gone, too."""
    try:
        return (
            process > 0
            and Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        )
    except OSError:
        return False


def until(settled) -> None:
    """Wait for something that happens soon."""
    waiting = threading.Event()
    for _ in range(600):
        if settled():
            return
        waiting.wait(0.05)
    raise AssertionError("it did not happen")


def hidden(folder: Path) -> list[str]:
    return sorted(
        path.name.partition(".vbas-")[0] for path in folder.iterdir() if path.name.startswith(".")
    )


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
        connection.execute(
            f"CREATE TABLE mine AS SELECT 7 AS a; CREATE TABLE {STAGING}mine AS SELECT 8 AS a"
        )
    words = arguments(in_folder(table(), tmp_path / "visits"), tmp_path, f"{file}#main.given")
    kill("staged", words)
    with duckdb.connect(str(file), read_only=True) as connection:
        assert connection.execute(
            "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'given'"
        ).fetchone() == (0,)
    assert staged_tables(file) == 2
    assert main(words) == 0
    assert rows_at(there(f"{file}#main.given")) == released(tmp_path)
    # What has the name but not the owner's mark stays.
    assert staged_tables(file) == 1


@pytest.mark.xdist_group("postgresql")
@pytest.mark.parametrize(("moment", "staged"), [("rows", 0), ("copy", 1)])
def test_a_server(moment, staged, server, password, tmp_path):
    from test_postgresql import VISITS

    server.run(
        "DROP TABLE IF EXISTS visits CASCADE",
        "DROP TABLE IF EXISTS handed",
        VISITS.replace("region", "place"),
    )
    words = arguments(server.address("public.visits"), tmp_path, server.address("public.handed"))
    kill(moment, [*words, "--allow-column", "note,ill,sex"])
    until(
        lambda: not server.rows("SELECT 1 FROM pg_stat_activity WHERE application_name = 'vbas-desktop'")
    )
    listed = f"SELECT count(*) FROM pg_tables WHERE tablename LIKE '{STAGING}%'"
    assert server.rows(listed) == [(staged,)]
    assert server.rows("SELECT count(*) FROM pg_tables WHERE tablename = 'handed'") == [(0,)]
    assert server.rows("SELECT count(*) FROM pg_class WHERE relname = 'vbas_regions'") == [(0,)]
    assert main([*words, "--allow-column", "note,ill,sex"]) == 0
    assert server.rows(listed) == [(0,)]
    assert server.rows("SELECT count(*) FROM handed") == [(len(released(tmp_path)),)]
    assert hidden(tmp_path) == []


def executors(application: str) -> list[int]:
    """The processes that work for a program at the cluster."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = path.read_bytes().split(b"\0")
            if application.encode() in words and any(
                word.endswith(b"CoarseGrainedExecutorBackend") for word in words
            ):
                found.append(int(path.parent.name))
    return found


@contextmanager
def at_spark(moment: str, records: str, tmp_path, spark: str):
    """The program on its way from Spark to a folder of Spark's, and what waits until Spark works for it.

    The executors stand still from then on, so that no work is ever done before something happens to it.
    """
    words = arguments(f"{spark}{records}", tmp_path, f"{spark}{tmp_path}/given")
    found: list = [0, "none"]
    with start(moment, *words, TMPDIR=str(tmp_path)) as child:

        def reach() -> tuple[int, list[int]]:
            said = child.stdout.readline().split()
            assert said[:1] == [b"there"], child.communicate()[1].decode()
            found[:] = int(said[1]), said[2].decode()
            until(lambda: len(executors(found[1])) == 2)
            workers = executors(found[1])
            for each in workers:
                os.kill(each, signal.SIGSTOP)
            child.stdin.write(b"go on\n")
            child.stdin.flush()
            assert child.stdout.readline() == b"working\n"
            return found[0], workers

        try:
            yield child, reach
        finally:
            child.kill()
            for each in executors(found[1]):
                os.kill(each, signal.SIGCONT)
    until(lambda: not running(found[0]) and not executors(found[1]))


LOST = "The connection to Spark was lost; what was begun was given up."


@pytest.mark.xdist_group("spark")
@pytest.mark.timeout(600)
def test_the_program_while_spark_works(spark, tmp_path):
    records = in_folder(table(), tmp_path / "visits")
    with at_spark("checking", records, tmp_path, spark) as (child, reach):
        reach()
        os.kill(child.pid, signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
    assert not (tmp_path / "given").exists()
    assert hidden(tmp_path) == [".given"]
    assert main(arguments(records, tmp_path, f"{tmp_path}/given")) == 0
    assert rows_at(there(f"{tmp_path}/given")) == released(tmp_path)
    assert hidden(tmp_path) == []


@pytest.mark.xdist_group("spark")
@pytest.mark.timeout(600)
def test_java_while_spark_works(spark, tmp_path):
    with at_spark("releasing", in_folder(table(), tmp_path / "visits"), tmp_path, spark) as (
        child,
        reach,
    ):
        java, _ = reach()
        os.kill(java, signal.SIGKILL)
        said = child.communicate()[1].decode()
        assert child.returncode == 1
    assert said.splitlines()[-1].endswith(f"{LOST} Try again when the cluster runs.")
    assert said.count(LOST) == 1
    assert "Traceback" not in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["regions.csv", "visits"]


@pytest.mark.xdist_group("spark")
@pytest.mark.timeout(600)
def test_executors_while_they_work_and_then_java(spark, tmp_path):
    """Spark replaces executors, and the release is all there; without Java, it does not get to the target."""
    with at_spark("releasing checking", in_folder(table(), tmp_path / "visits"), tmp_path, spark) as (
        child,
        reach,
    ):
        _, workers = reach()
        for each in workers:
            os.kill(each, signal.SIGKILL)
        java, others = reach()
        assert not set(others) & set(workers)
        os.kill(java, signal.SIGKILL)
        said = child.communicate()[1].decode()
        assert child.returncode == 1
    assert said.count(LOST) == 1
    assert said.splitlines()[-1].endswith(f"The release itself is complete: {tmp_path / 'out'}.")
    assert "Traceback" not in said
    assert len(released(tmp_path)) == 600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "regions.csv", "visits"]


@pytest.mark.xdist_group("spark")
@pytest.mark.timeout(600)
def test_a_table_of_spark(tmp_path):
    """With a catalogue that lasts, on this machine; what is in it is seen by its files."""
    house, temporary = tmp_path / "house", tmp_path / "temporary"
    for folder in (house / "warehouse", temporary):
        folder.mkdir(parents=True)
    (house / "spark-defaults.conf").write_text(
        "spark.sql.catalogImplementation hive\n"
        f"spark.sql.warehouse.dir file:{house}/warehouse\n"
        f"spark.hadoop.javax.jdo.option.ConnectionURL jdbc:derby:;databaseName={house}/catalogue;create=true\n"
        f"spark.driver.extraJavaOptions -Dderby.system.home={house} {QUICK}\n",
        encoding="utf-8",
    )
    there = {"SPARK_CONF_DIR": str(house), "TMPDIR": str(temporary)}
    records = in_folder(table(), tmp_path / "visits")
    kill("staged", arguments(f"spark-local:{records}", tmp_path, "spark-local:#default.given"), **there)
    left = [path.name for path in (house / "warehouse").iterdir()]
    assert len(left) == 1
    assert left[0].startswith(STAGING)
    assert [path.name.startswith("vbas-spark-") for path in temporary.glob("vbas-*")] == [True]
    with start("", *arguments(records, tmp_path, "spark-local:#default.given"), **there) as child:
        said = child.communicate()[1].decode()
    assert child.returncode == 0, said
    assert [path.name for path in (house / "warehouse").iterdir()] == ["given"]
    rows = pq.ParquetDataset(house / "warehouse" / "given").read()
    assert sorted(
        zip(*(column.to_pylist() for column in rows.columns), strict=True), key=repr
    ) == released(tmp_path)
    assert list(temporary.glob("vbas-*")) == []
    assert hidden(tmp_path) == []
