"""What can go wrong with a server is told in words, stops reach it, and nothing stays behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from making import regions_file
from servers import CERTIFICATE, CLEAR_USER, PASSWORD, free_port, start_server

from vbas_desktop.cli.main import main
from vbas_desktop.io.databases.address import parse_address
from vbas_desktop.io.databases.postgresql_connection import protection_parameters
from vbas_desktop.io.databases.postgresql_engine import list_server_tables
from vbas_desktop.io.databases.table import open_database_table
from vbas_desktop.io.databases.targets import STAGING, parse_target
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import NO_PROGRESS, Cancelled
from vbas_desktop.settings.reading import RecordReading

pytestmark = pytest.mark.xdist_group("postgresql")

VISITS = """
CREATE TABLE visits AS SELECT (ARRAY['r1', 'r 2', 'Łódź', 'a,b'])[1 + i % 4] AS region, i % 3 AS age,
  CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END::char(3) AS sex, i AS number, 'note ' || i % 7 AS note, i % 5 = 0 AS ill
FROM generate_series(1, 2400) AS i"""


@pytest.fixture
def visits(server, password):
    server.run("DROP TABLE IF EXISTS visits CASCADE", VISITS, "ANALYZE visits")
    return server.address("public.visits")


def opened(address: str, **more):
    return open_database_table(parse_address(address), RecordReading(), **more)


def codes(address: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        opened(address)
    assert PASSWORD not in str(caught.value)
    return [finding.code for finding in caught.value.findings]


def arguments(address: str, tmp_path, *more: str) -> list[str]:
    return [
        "run", address, str(regions_file(tmp_path)), "--region-column", "region", "--quasi-identifiers", "age,sex",
        "--identifiers", "number", "-k", "5", "--site-number", "fixed", "--sites", "2", "--range-reach", "0",
        "--no-pdf", *more,
    ]  # fmt: skip


def test_a_run_releases_verifies_and_can_be_repeated(visits, tmp_path, capsys, monkeypatch):
    out, again = tmp_path / "out", tmp_path / "again"
    assert main(arguments(visits, tmp_path, "--out", str(out))) == 0
    options = ["--region-column", "region", "--quasi-identifiers", "age,sex", "-k", "5"]
    assert main(["verify", str(out / "release" / "anonymized.csv"), *options]) == 0
    assert main(["export", str(out), "--records", visits, "--out", str(again)]) == 0
    one, other = (folder / "release" / "anonymized.csv" for folder in (out, again))
    assert one.read_bytes() == other.read_bytes()
    kept = (
        "".join(path.read_text(encoding="utf-8") for path in out.rglob("*.json"))
        + capsys.readouterr().err
    )
    assert PASSWORD not in kept
    assert json.loads((out / "run.json").read_text(encoding="utf-8"))["options"]["records"] == visits


def test_verify_counts_on_the_server(visits, capsys):
    assert (
        main(
            [
                "verify",
                visits,
                "--region-column",
                "region",
                "--quasi-identifiers",
                "age,sex,note",
                "-k",
                "29",
            ]
        )
        == 3
    )
    found = json.loads(capsys.readouterr().out)
    assert (found["records"], found["regions"], found["anonymity"]) == (2400, 4, 28)
    assert found["violating_records"] == 28 * found["anonymity_vector"]["28"]


def test_nobody_answers(password):
    assert codes(f"postgresql://keeper@127.0.0.1:{free_port()}/postgres#public.visits") == ["no-server"]


def test_no_such_host(password):
    assert codes("postgresql://keeper@no-such-host.invalid/postgres#public.visits") == ["no-such-host"]


def test_wrong_password(server, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", "something else")
    assert codes(server.address("public.visits")) == ["wrong-password"]


def test_no_password_at_all(server, monkeypatch):
    monkeypatch.delenv("PGPASSWORD", raising=False)
    monkeypatch.setenv("PGPASSFILE", "/nonexistent")
    assert codes(server.address("public.visits")) == ["wrong-password"]


def test_the_password_file_is_used(visits, server, monkeypatch, tmp_path):
    monkeypatch.delenv("PGPASSWORD", raising=False)
    file = tmp_path / "pass"
    file.write_text(
        f"127.0.0.1:{server.port}:*:keeper:{PASSWORD.replace(':', chr(92) + ':')}\n", encoding="utf-8"
    )
    file.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(file))
    table = opened(visits, columns=("age",))
    assert table.rows == 2400
    table.close()


def test_no_such_database(server, password):
    assert codes(server.address("public.visits", database="none")) == ["no-such-database"]


def test_no_such_table_lists_those_that_are_there(visits, server):
    with pytest.raises(InputError, match=r"no table “public.visit”.*public\.visits"):
        opened(server.address("public.visit"))
    assert "public.visits" in list_server_tables(parse_address(server.address()), NO_PROGRESS)


def test_no_such_column(visits, tmp_path, capsys):
    assert main([*arguments(visits, tmp_path)[:4], "ages", *arguments(visits, tmp_path)[5:]]) == 1
    assert "There is no column “ages”. Did you mean “age”?" in capsys.readouterr().err


def test_no_right_to_read(visits, server, monkeypatch):
    server.run("DROP ROLE IF EXISTS guest", "CREATE ROLE guest LOGIN PASSWORD 'guest'")
    monkeypatch.setenv("PGPASSWORD", "guest")
    assert codes(server.address("public.visits", user="guest")) == ["no-rights"]


def test_a_type_that_cannot_be_grouped_is_left_uncoded(server, password):
    server.run(
        "DROP TABLE IF EXISTS odd", "CREATE TABLE odd AS SELECT 1 AS a, '{}'::json AS b, ARRAY[1] AS c"
    )
    table = opened(server.address("public.odd"))
    assert [(each.name, each.categorical) for each in table.columns] == [
        ("a", True),
        ("b", False),
        ("c", False),
    ]
    table.close()


def test_dates_outside_the_calendar_are_told(server, password):
    server.run("DROP TABLE IF EXISTS odd", "CREATE TABLE odd AS SELECT 'infinity'::date AS day")
    assert codes(server.address("public.odd")) == ["no-fit"]


def test_records_that_change_between_counting_and_releasing_stop_the_release(
    visits, server, tmp_path, monkeypatch
):
    from vbas_desktop.app import release

    released = release.release_solution

    def meddled(request, progress):
        server.run("UPDATE visits SET age = 7 WHERE number = 1")
        return released(request, progress)

    monkeypatch.setattr("vbas_desktop.app.release.release_solution", meddled)
    assert main(arguments(visits, tmp_path, "--out", str(tmp_path / "out"))) == 1
    assert not (tmp_path / "out").exists()


def test_records_that_change_while_they_are_released_are_not_seen(visits, server, tmp_path, monkeypatch):
    from vbas_desktop.releases.database_records import ReleaseQuery

    uploaded = ReleaseQuery.upload

    def meddled(self, progress):
        server.run("UPDATE visits SET age = 7", "DELETE FROM visits WHERE number < 1000")
        return uploaded(self, progress)

    monkeypatch.setattr(ReleaseQuery, "upload", meddled)
    assert main(arguments(visits, tmp_path, "--out", str(tmp_path / "out"))) == 0
    assert server.rows("SELECT count(*) FROM visits") == [(1401,)]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("ALTER TABLE visits DROP COLUMN note", "A column no longer exists."),
        ("DROP TABLE visits", "The table no longer exists."),
        ("ALTER TABLE visits ALTER COLUMN age TYPE text USING 'a' || age", "do not fit their types"),
        ("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'vbas-desktop'",
         "The connection to the server was lost; what was begun was given up."),
    ],
    ids=["column", "table", "type", "connection"],
)  # fmt: skip
def test_what_happens_to_the_table_meanwhile_is_told(
    change, told, visits, server, tmp_path, monkeypatch, capsys
):
    from vbas_desktop.app import release

    released = release.release_solution

    def meddled(request, progress):
        server.run(change)
        return released(request, progress)

    monkeypatch.setattr("vbas_desktop.app.release.release_solution", meddled)
    assert main(arguments(visits, tmp_path, "--out", str(tmp_path / "out"))) == 1
    said = capsys.readouterr().err
    assert told in said
    assert "Traceback" not in said
    assert not (tmp_path / "out").exists()


def test_no_right_to_make_tables_is_told(visits, server, tmp_path, monkeypatch, capsys):
    server.run(
        "DROP OWNED BY reader" if server.rows("SELECT 1 FROM pg_roles WHERE rolname = 'reader'") else "SELECT 1",
        "DROP ROLE IF EXISTS reader", "CREATE ROLE reader LOGIN PASSWORD 'reader'", "GRANT SELECT ON visits TO reader",
        "REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC",
    )  # fmt: skip
    monkeypatch.setenv("PGPASSWORD", "reader")
    address = server.address("public.visits", user="reader")
    assert main(arguments(address, tmp_path, "--out", str(tmp_path / "out"))) == 1
    assert "to make temporary tables" in capsys.readouterr().err
    server.run("GRANT TEMPORARY ON DATABASE postgres TO PUBLIC")
    target = ("--format", "parquet", "--target", server.address("public.handed", user="reader"))
    assert main(arguments(address, tmp_path, "--out", str(tmp_path / "out"), *target)) == 1
    said = capsys.readouterr().err
    assert "You may not make tables in the schema “public”." in said
    assert not (tmp_path / "out").exists(), "it is refused before anything is computed"


class Stopping:
    """Progress that wants to stop as soon as the server works on the query."""

    def __init__(self, server) -> None:
        self.server = server

    def update(self, stage, fraction=None) -> None:
        if busy(self.server):
            raise Cancelled


def busy(server) -> list[tuple]:
    return server.rows(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'vbas-desktop' AND state = 'active' "
        "AND query LIKE '%pg_sleep%'"
    )


def test_a_stop_ends_the_query_on_the_server(visits, server):
    table = opened(visits, columns=("age",))
    with pytest.raises(Cancelled):
        table.engine.fetch(
            "SELECT count(*) AS n, pg_sleep(60)::text AS t", None, Stopping(server), "Waiting"
        )
    assert busy(server) == []
    table.close()


def test_a_killed_program_leaves_nothing_on_the_server(visits, server, tmp_path):
    program = (
        "import sys, pyarrow as pa\n"
        "from vbas_desktop.model.progress import NO_PROGRESS\n"
        "from vbas_desktop.settings.reading import RecordReading\n"
        "from vbas_desktop.io.databases.address import parse_address\n"
        "from vbas_desktop.io.databases.table import open_database_table\n"
        f"table = open_database_table(parse_address({visits!r}), RecordReading(), columns=('age',))\n"
        "table.engine.upload('vbas_regions', {'r_area': pa.array([1], pa.int32())}, {}, NO_PROGRESS)\n"
        "print('there', flush=True)\n"
        "sys.stdin.read()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout.readline() == b"there\n"
    left = "SELECT count(*) FROM pg_class WHERE relname = 'vbas_regions'"
    assert server.rows(left) == [(1,)]
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    gone = threading.Event()
    for _ in range(100):
        if server.rows(left) == [(0,)]:
            gone.set()
            break
        gone.wait(0.05)
    assert gone.is_set()


def test_a_server_that_dies_in_the_middle_is_told_and_nothing_is_released(
    tmp_path, password, monkeypatch, capsys
):
    from vbas_desktop.releases.database_records import ReleaseQuery

    mortal = start_server()
    try:
        mortal.run(VISITS)
        uploaded = ReleaseQuery.upload

        def killed(self, progress):
            mortal.process.send_signal(signal.SIGQUIT)
            mortal.process.wait(20)
            return uploaded(self, progress)

        monkeypatch.setattr(ReleaseQuery, "upload", killed)
        assert (
            main(arguments(mortal.address("public.visits"), tmp_path, "--out", str(tmp_path / "out")))
            == 1
        )
        assert (
            "The connection to the server was lost; what was begun was given up."
            in capsys.readouterr().err
        )
        assert [path.name for path in tmp_path.iterdir()] == ["regions.csv"]
    finally:
        mortal.stop()


def test_a_release_becomes_a_table_when_it_was_recounted(visits, server, tmp_path):
    server.run(
        "DROP TABLE IF EXISTS handed",
        f"CREATE TABLE {STAGING}77 (a int)",
        f"CREATE TABLE {STAGING}other (a int)",
    )
    more = (
        "--out",
        str(tmp_path / "out"),
        "--format",
        "parquet",
        "--target",
        server.address("public.handed"),
    )
    assert main(arguments(visits, tmp_path, *more)) == 0
    assert main(arguments(visits, tmp_path, *more)) == 0
    rows = pq.read_table(tmp_path / "out" / "release" / "anonymized.parquet").to_pylist()
    found = server.rows("SELECT region, age, sex, note, ill FROM handed")
    assert sorted(found) == sorted((*row.values(),) for row in rows)
    left = server.rows(f"SELECT tablename FROM pg_tables WHERE tablename LIKE '{STAGING}%'")
    assert left == [(f"{STAGING}other",)]
    server.run(f"DROP TABLE {STAGING}other")


def test_a_table_that_is_no_release_is_left_alone(visits, server, tmp_path, capsys):
    more = ("--out", str(tmp_path / "out"), "--format", "parquet", "--target", visits)
    assert main(arguments(visits, tmp_path, *more)) == 1
    assert "no earlier release" in capsys.readouterr().err
    assert server.rows("SELECT count(*) FROM visits") == [(2400,)]
    assert not (tmp_path / "out").exists()


def test_a_server_in_a_run_file_is_asked_only_if_the_user_names_it_again(
    visits, tmp_path, capsys, server
):
    out, again = tmp_path / "out", tmp_path / "again"
    assert main(arguments(visits, tmp_path, "--out", str(out))) == 0
    before = server.rows("SELECT sessions FROM pg_stat_database WHERE datname = 'postgres'")
    capsys.readouterr()
    assert main(["export", str(out), "--out", str(again)]) == 1
    assert "name it yourself: --records" in capsys.readouterr().err
    assert main(["ledger", "check", str(out), "--audience", "Uni"]) == 1
    assert "name it yourself: --records" in capsys.readouterr().err
    # The two connections of this test itself are the only ones in between.
    after = server.rows("SELECT sessions FROM pg_stat_database WHERE datname = 'postgres'")
    assert after[0][0] - before[0][0] <= 1
    assert not again.exists()
    assert main(["export", str(out), "--records", visits, "--out", str(again)]) == 0


@pytest.fixture
def clear_user(server, password):
    server.run(
        f"DROP TABLE IF EXISTS clear_visits; DROP ROLE IF EXISTS {CLEAR_USER}",
        f"CREATE ROLE {CLEAR_USER} LOGIN PASSWORD '{PASSWORD.replace(chr(39), chr(39) * 2)}'",
        "CREATE TABLE clear_visits AS SELECT 'r1' AS region, i % 3 AS age FROM generate_series(1, 60) AS i",
        f"GRANT SELECT ON clear_visits TO {CLEAR_USER}",
    )
    yield CLEAR_USER
    server.run(f"DROP TABLE clear_visits; DROP ROLE {CLEAR_USER}")


def test_a_password_is_sent_in_clear_to_nobody_but_a_verified_server(server, clear_user):
    plain = server.address("public.clear_visits", user=clear_user)
    assert codes(plain) == ["unsafe-password"]
    assert codes(plain.replace("#", "?sslmode=require#")) == ["unsafe-password"]
    verified = f"?sslmode=verify-full&sslrootcert={server.folder / CERTIFICATE}#"
    assert opened(plain.replace("#", verified)).file_format.header == ("region", "age")


def test_a_server_with_a_certificate_of_somebody_else_is_not_verified(server, password):
    address = server.address("public.visits").replace("#", "?sslmode=verify-full&sslrootcert=system#")
    assert codes(address) == ["not-verified"]


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("postgresql://ann@db.house/health", {"sslmode": "verify-full", "sslrootcert": "system"}),
        ("postgresql://ann@10.0.0.7/health", {"sslmode": "verify-full", "sslrootcert": "system"}),
        ("postgresql://ann@db.house/health?sslrootcert=own.crt", {"sslmode": "verify-full"}),
        ("postgresql://ann@db.house/health?sslmode=verify-full", {}),
        ("postgresql://ann@db.house/health?sslmode=require", {"require_auth": "!password,!md5"}),
        ("postgresql://ann@localhost/health", {"require_auth": "!password,!md5"}),
        ("postgresql://ann@127.0.0.1/health", {"require_auth": "!password,!md5"}),
        ("postgresql://ann@[::1]/health", {"require_auth": "!password,!md5"}),
    ],
)
def test_another_computer_must_prove_its_identity(address, expected, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert protection_parameters(parse_address(f"{address}#t")) == expected


def put(server, tmp_path, number, meanwhile=lambda: None):
    """Put a file of one number into the table ``handed``, and do something else before it gets its name."""
    file = tmp_path / f"{number}.parquet"
    pq.write_table(pa.table({"a": [number]}), file)
    with parse_target(server.address("public.handed")).stage(file, NO_PROGRESS):
        meanwhile()


@pytest.mark.parametrize("old", [True, False])
def test_of_two_clients_with_one_target_the_first_wins(server, password, tmp_path, old):
    server.run("DROP TABLE IF EXISTS handed")
    if old:
        put(server, tmp_path, 1)
    with pytest.raises(InputError, match="appeared at the target while"):
        put(server, tmp_path, 2, meanwhile=lambda: put(server, tmp_path, 3))
    assert server.rows("SELECT a FROM handed") == [(3,)]
    put(server, tmp_path, 4)
    assert server.rows("SELECT a FROM handed") == [(4,)]
    assert server.rows(f"SELECT tablename FROM pg_tables WHERE tablename LIKE '{STAGING}%'") == []


@pytest.mark.parametrize("old", [True, False])
def test_of_two_clients_that_end_at_the_same_moment_one_wins(server, password, tmp_path, old):
    server.run("DROP TABLE IF EXISTS handed")
    if old:
        put(server, tmp_path, 1)
    both, ended = threading.Barrier(2), {}

    def attempt(number):
        try:
            put(server, tmp_path, number, meanwhile=both.wait)
            ended[number] = ""
        except InputError as error:
            ended[number] = error.findings[0].code

    threads = [threading.Thread(target=attempt, args=(number,)) for number in (2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ended.values()) == ["", "target-changed"]
    winner = next(number for number, code in ended.items() if not code)
    assert server.rows("SELECT a FROM handed") == [(winner,)]
    assert server.rows(f"SELECT tablename FROM pg_tables WHERE tablename LIKE '{STAGING}%'") == []
