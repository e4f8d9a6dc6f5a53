"""Whatever file is given by mistake, no message quotes a value of a record."""

import pytest

from vbas_desktop.cli.main import main

NAMES = "who,age,sex,sex of partner,region"
FIRST = "Xanthippe,44,F,F,1001"
ROWS = [f"p{i},{20 + i % 30},{'FM'[i % 2]},{'FM'[i % 3 % 2]},{1001 + i % 9}" for i in range(60)]
TOLD = ("Xanthippe", "“F”", "“44”", "“1001”", "p17")
COLUMNS = ["--region-column", "region", "--quasi-identifiers", "age,sex"]


@pytest.fixture
def files(tmp_path):
    records, regions = tmp_path / "records.csv", tmp_path / "regions.csv"
    records.write_text("\n".join([NAMES, FIRST, *ROWS]) + "\n")
    regions.write_text("id,x,y\n" + "".join(f"{1001 + i},{i % 3},{i // 3}\n" for i in range(9)))
    return records, regions


def without_names(path):
    path.write_text("\n".join([FIRST, *ROWS]) + "\n")


def all_different(path):
    """No names, and a first record that has nothing in common with the others."""
    path.write_text(
        "Xanthippe,Oak Street 5,1001\n" + "".join(f"p{i},Elm {i},20{i}\n" for i in range(20))
    )


def line_separators(path):
    path.write_text("\u2028".join([NAMES, FIRST, *ROWS]) + "\u2028", encoding="utf-8")


def line_separators_below_a_blank_line(path):
    path.write_text("\n" + "\u2028".join([NAMES, FIRST, *ROWS]) + "\n1,2,3\n", encoding="utf-8")


DAMAGES = [without_names, all_different, line_separators, line_separators_below_a_blank_line]


def commands(damaged, records, regions):
    """Give the damaged record file wherever a file can be named."""
    run = [
        "run",
        records,
        regions,
        *COLUMNS,
        "-k",
        "2",
        "--identifiers",
        "who",
        "--out",
        damaged.parent / "out",
    ]
    yield ["run", damaged, regions, *COLUMNS]
    yield ["run", records, damaged, *COLUMNS]
    yield ["run", f"duckdb:{damaged}", regions, *COLUMNS]
    for option in (
        "generalise",
        "codebook",
        "requirement",
        "population",
        "policy",
        "obstacles",
        "keep-records",
    ):
        yield [*run, f"--{option}", damaged]
    yield [*run, "--construction", "coarsen", "--coarsen-from", damaged]
    yield [*run, "--construction", "given", "--set", f"given.file={damaged}"]
    yield [*run, "--alone", f"@{damaged}"]
    yield ["outliers", damaged, "--quasi-identifiers", "age", "-k", "3"]
    yield ["verify", damaged, *COLUMNS, "-k", "3"]
    yield ["verify", f"duckdb:{damaged}", *COLUMNS, "-k", "3"]
    yield ["risky", damaged, "--columns", "age"]
    yield ["risky", records, "--public", damaged]
    yield ["representability", damaged, damaged, "--key", "who", "--quasi-identifiers", "age"]
    yield ["appointments", damaged, damaged, "--quasi-identifiers", "age"]
    yield ["appointments", records, damaged, "--quasi-identifiers", "age"]
    # Any table with several fields on each line can be read as a hierarchy.
    yield [*run, "--generalise", f"age={damaged}:1"]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_record_file_given_anywhere_is_not_quoted(files, tmp_path, capfd, damage):
    damaged = tmp_path / "damaged.csv"
    damage(damaged)
    for command in commands(damaged, *files):
        try:
            code = main([str(word) for word in command])
        except SystemExit as stopped:
            code = stopped.code
        said = "".join(capfd.readouterr()).replace(str(tmp_path), "")
        assert code in ((0, 1) if "=" in str(command[-1]) else (1, 2)), (command, said)
        assert [word for word in TOLD if word in said] == [], command
        assert "unforeseen" not in said, command


def test_a_file_without_names_is_refused_where_all_its_columns_are_used(files, capsys):
    without_names(files[0])
    files[0].write_text("\n".join(row.replace(",F,F", ",F,M") for row in [FIRST, *ROWS]) + "\n")
    assert main(["risky", str(files[0])]) == 1
    said = capsys.readouterr().err
    assert "row 1: Most fields of line 1 are also values of their columns." in said
    assert "put the names of the columns above it" in said


def test_unusual_line_ends_are_named(files, capsys):
    for mark, name in (("\u2028", "U+2028"), ("\u2029", "U+2029"), ("\r\r\n", "CR CR LF"), ("\v", "VT")):
        files[0].write_bytes(mark.join([NAMES, FIRST, *ROWS]).encode())
        assert main(["outliers", str(files[0]), "--quasi-identifiers", "age", "-k", "1"]) == 1
        assert f"Lines end with {name}" in capsys.readouterr().err


def test_ids_that_no_region_has_are_counted_not_quoted(files, tmp_path, capsys):
    ids = tmp_path / "ids.txt"
    ids.write_text("1001\nXanthippe\n1002\np17\n")
    assert main(["run", *map(str, files), *COLUMNS, "--alone", f"@{ids}"]) == 1
    said = capsys.readouterr().err
    assert "lacks 2 ids of those that are to stay alone: number 2, 4 of the list." in said
    assert "they look like “1001” and “1009”" in said
    assert "Xanthippe" not in said


def test_a_table_is_no_list_of_ids(files, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["run", *map(str, files), *COLUMNS, "--alone", f"@{files[0]}"])
    assert stopped.value.code == 2
    assert "is a table; write one id on each line" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["outliers", "verify", "risky", "regions", "duckdb"])
def test_a_million_columns_are_refused_at_once(files, tmp_path, capsys, command):
    if command == "duckdb":
        pytest.importorskip("duckdb")
    wide = tmp_path / "wide.csv"
    wide.write_text(",".join(f"c{i}" for i in range(1_000_000)) + "\n" + "1," * 999_999 + "1\n")
    commands = {
        "outliers": ["outliers", str(wide), "--quasi-identifiers", "c1", "-k", "1"],
        "verify": ["verify", str(wide), "--quasi-identifiers", "c1", "--region-column", "c0"],
        "risky": ["risky", str(wide)],
        "regions": ["run", str(files[0]), str(wide), *COLUMNS],
        "duckdb": ["verify", f"duckdb:{wide}", "--quasi-identifiers", "c1", "--region-column", "c0"],
    }
    assert main(commands[command]) == 1
    assert "The file has more than 10,000 columns. Check the delimiter" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["n" * 5000, "x\x1b[2J" * 200])
def test_long_names_are_cut_and_control_characters_replaced(files, capsys, name):
    files[0].write_text(f"{name},age,region\n" + "a,1,1001\nb,2,1002\n" * 9)
    assert (
        main(["run", *map(str, files), "--region-column", "region", "--quasi-identifiers", "height"])
        == 1
    )
    assert main(["outliers", str(files[0]), "--quasi-identifiers", f"{name}o"[1:], "-k", "1"]) == 1
    assert main(["run", *map(str, files), "--region-column", name, "--quasi-identifiers", name]) in (
        1,
        2,
    )
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert max(len(word) for line in said.splitlines() for word in line.split("“")) < 250
    assert "…”" in said
