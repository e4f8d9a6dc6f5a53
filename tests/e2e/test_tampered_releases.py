"""Whatever is done to a written release, the verification with the true claim notices it."""

from __future__ import annotations

import csv
import random

import pyarrow as pa
import pytest
from tampering import (
    END,
    change_bytes,
    change_rows,
    change_table,
    classes_of,
    compress,
    exchange,
    make_release,
    replace_value,
    set_field,
    sort_table,
    write_input,
)

from vbas_desktop.model.findings import VerificationFailed

MARK = b"\xef\xbb\xbf"
CSV = ["--delimiter", ";", "--class-size", "size", "--rename", "code=number", "--escape-formulas"]
PARQUET = ["--format", "parquet", "--class-size", "size", "--rename", "code=number"]
TIERS = ["--delimiter", ";", "--tiers", "side"]
CRITERIA = [
    "--delimiter",
    ";",
    "--sensitive",
    "illness",
    "--criterion",
    "distinct:2",
    "--benign",
    "illness=none",
]
KEYS = ["--delimiter", ";", "--record-key", "key", "--aggregate", "amount", "--aggregate-classes", "all"]


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    """Make the releases that are tampered with, by the name of what is special about them."""
    base = tmp_path_factory.mktemp("tampered")
    found = {
        "csv": make_release(write_input(base / "csv"), *CSV),
        "parquet": make_release(write_input(base / "parquet"), *PARQUET, records="records.parquet"),
        "from parquet": make_release(write_input(base / "from"), records="records.parquet"),
        "tiers": make_release(write_input(base / "tiers"), *TIERS, sites="9"),
        "criteria": make_release(write_input(base / "criteria"), *CRITERIA, sites="9"),
        "keys": make_release(write_input(base / "keys"), *KEYS, "--sensitive", "amount"),
    }
    folder = write_input(base / "map")
    lines = [f"r{number},r{number},0.75\nr{number},r{(number + 1) % 16},0.25\n" for number in range(16)]
    (folder / "map.csv").write_text("from,to,share\n" + "".join(lines))
    (folder / "keep.csv").write_text("illness\nflu\ncold\nnone\n")
    chosen = ["--region-map", str(folder / "map.csv"), "--keep-records", str(folder / "keep.csv")]
    found["map"] = make_release(folder, "--delimiter", ";", *chosen)
    return found


def lose(which):
    return change_rows(lambda rows: rows.pop(which))


def lose_class(rows):
    smallest = min(
        classes_of(rows, ["region", "age", "sex"]).items(), key=lambda item: (item[1], item[0])
    )[0]
    places = [rows[0].index(name) for name in ("region", "age", "sex")]
    return [row for row in rows if tuple(row[place] for place in places) != smallest]


def repeat(which, times=1):
    return change_rows(lambda rows: rows + [rows[which]] * times)


def overwrite(rows):
    other = next(row for row in rows[2:] if row != rows[1])
    rows[1] = list(other)


def sort_rows(name):
    return change_rows(
        lambda rows: [rows[0], *sorted(rows[1:], key=lambda row: row[rows[0].index(name)])]
    )


def change_everywhere(name, change):
    def apply(rows):
        at = rows[0].index(name)
        for row in rows[1:]:
            row[at] = change(row[at])

    return change_rows(apply)


def codes_of(rows):
    at = rows[0].index("region")
    return sorted({row[at] for row in rows[1:]})


def move_place(times):
    """Put rows of the first place into the second one."""

    def apply(rows):
        first, second, *_ = codes_of(rows)
        at = rows[0].index("region")
        for row in [row for row in rows[1:] if row[at] == first][:times]:
            row[at] = second

    return change_rows(apply)


def exchange_places(rows):
    first, second, *_ = codes_of(rows)
    at = rows[0].index("region")
    for row in rows[1:]:
        row[at] = {first: second, second: first}.get(row[at], row[at])


def take_columns(order):
    return change_rows(lambda rows: [[row[place] for place in order] for row in rows])


def in_line(number, change):
    """Change the bytes of a line of the file, without its end."""

    def apply(data):
        lines = data.split(END.encode())
        lines[number] = change(lines[number])
        return END.encode().join(lines)

    return change_bytes(apply)


def with_plain_line(change):
    """Change the bytes of the first row that has neither quotes nor line breaks in it."""

    def apply(data):
        lines = data.split(b"\n")
        at = next(n for n, line in enumerate(lines) if n and b'"' not in line and line.count(b";") == 8)
        lines[at] = change(lines[at].removesuffix(b"\r")) + b"\r"
        return b"\n".join(lines)

    return change_bytes(apply)


def once(before, after):
    return change_bytes(lambda data: data.replace(before, after, 1))


def everywhere(before, after):
    return change_bytes(lambda data: data.replace(before, after))


FIELDS = {
    "one letter": set_field("note", lambda text: "plaim", lambda text: text == "plain"),
    "a blank in front": set_field("note", lambda text: f" {text}"),
    "a blank behind": set_field("note", lambda text: f"{text} "),
    "another case": set_field("note", str.upper, lambda text: text == "plain"),
    "007 as 7": set_field("number", lambda text: text.lstrip("0"), lambda text: text.startswith("0")),
    "100 as 0100": set_field("number", lambda text: f"0{text}", lambda text: text == "100"),
    "1.5 as 1.50": set_field("amount", lambda text: "1.50", lambda text: text == "1.5"),
    "2 as 2.0": set_field("amount", lambda text: "2.0", lambda text: text == "2"),
    "TRUE as true": set_field("flag", str.lower, lambda text: text == "TRUE"),
    "nothing as a blank": set_field("flag", lambda text: " ", lambda text: text == ""),
    "nothing as NA": set_field("flag", lambda text: "NA", lambda text: text == ""),
    "nothing as a value": set_field("flag", lambda text: "TRUE", lambda text: text == ""),
    "a value as nothing": set_field("flag", lambda text: ""),
    "plain letters": set_field("note", lambda text: "Grosse", lambda text: text == "Größe"),
    "letters in parts": set_field("note", lambda text: "Gro\u0308ße", lambda text: text == "Größe"),
    "no apostrophe": set_field("note", lambda text: text[1:], lambda text: text == "'=1+1"),
    "one apostrophe more": set_field("note", lambda text: f"'{text}", lambda text: text == "plain"),
    "another minus": set_field("note", lambda text: "−5", lambda text: text == "-5"),
    "an unseen letter": set_field("note", lambda text: f"{text}\u200b"),
    "a tab for a blank": set_field("note", lambda text: "x\ty", lambda text: text == "x y"),
    "a wide blank": set_field("note", lambda text: "x\u00a0y", lambda text: text == "x y"),
    "a value twice": set_field("note", lambda text: text * 2),
    "another sign for a digit": set_field("age", lambda text: "１０", lambda text: text == "10"),
    "another age": set_field("age", lambda text: "20", lambda text: text == "10"),
    "another sex": set_field("sex", lambda text: "m", lambda text: text == "f"),
    "an age that nobody has": set_field("age", lambda text: "31"),
    "another line break": set_field(
        "note", lambda text: text.replace("\r\n", "\n"), lambda text: "\r\n" in text
    ),
    "no line break": set_field(
        "note", lambda text: text.replace("\r\n", " "), lambda text: "\r\n" in text
    ),
    "another illness": set_field("illness", lambda text: "flu", lambda text: text == "cold"),
    "another size": set_field("size", lambda text: str(int(text) + 1)),
    "a size in another notation": set_field("size", lambda text: f"0{text}"),
    "an unknown place": set_field("region", lambda text: "A999"),
    "an initial region": set_field("region", lambda text: "r1"),
    "no place": set_field("region", lambda text: ""),
    "a place in small letters": set_field("region", str.lower),
}

ON_CSV = {
    **{f"value: {name}": change_rows(change) for name, change in FIELDS.items()},
    **{
        f"exchange: {name}": change_rows(exchange(name))
        for name in ("note", "age", "region", "amount", "size")
    },
    "the first row is lost": lose(1),
    "a row is lost": lose(40),
    "the last row is lost": lose(-1),
    "a class is lost": change_rows(lose_class),
    "half of the rows are lost": change_rows(lambda rows: rows[: len(rows) // 2]),
    "all rows are lost": change_rows(lambda rows: rows[:1]),
    "a row is there twice": repeat(1),
    "a row is there six times": repeat(1, 5),
    "all rows are there twice": change_rows(lambda rows: rows + rows[1:]),
    "a row has the values of another": change_rows(overwrite),
    "a suppressed record is back": change_rows(lambda rows: [*rows, [*rows[1][:1], "90", *rows[1][2:]]]),
    "sorted by place": sort_rows("region"),
    "sorted by note": sort_rows("note"),
    "sorted by illness": sort_rows("illness"),
    "sorted by all": change_rows(lambda rows: [rows[0], *sorted(rows[1:])]),
    "a row moves to another place": move_place(1),
    "a place moves to another": move_place(None),
    "two places are exchanged": change_rows(exchange_places),
    "ages are grouped": change_everywhere("age", lambda text: "30" if text == "20" else text),
    "a column is emptied": change_everywhere("flag", lambda text: ""),
    "cut off within a row": change_bytes(lambda data: data[:-9]),
    "cut off within the names": change_bytes(lambda data: data[:12]),
    "an empty file": change_bytes(lambda data: b""),
    "quotes are taken off": once(b'"a;b"', b"a;b"),
    "quotes are taken off everywhere": everywhere(b'"', b""),
    "quotes around a plain value": once(b";TRUE;", b';"TRUE";'),
    "quotes around a name": once(b";age;", b';"age";'),
    "quotes that are not doubled": once(b'""so""', b'"so"'),
    "a quote that is not closed": once(b";TRUE;", b';"TRUE;'),
    "another delimiter": everywhere(b";", b","),
    "another delimiter in a row": with_plain_line(lambda line: line.replace(b";", b",")),
    "a delimiter more in a row": with_plain_line(lambda line: line + b";"),
    "a delimiter more in every row": everywhere(END.encode(), b";" + END.encode()),
    "a field less in a row": with_plain_line(lambda line: line.rpartition(b";")[0]),
    "a field in another row": change_bytes(
        lambda data: data.replace(END.encode(), b";x" + END.encode(), 1)
    ),
    "line ends of another kind": everywhere(b"\r\n", b"\n"),
    "one line end of another kind": with_plain_line(lambda line: line + b"\r\n"),
    "a line feed alone": change_bytes(lambda data: data[:-2] + b"\n"),
    "a return alone": change_bytes(lambda data: data[:-2] + b"\r"),
    "a return within a row": once(b";TRUE;", b";TR\rUE;"),
    "a line break within a row": once(b";TRUE;", b";TR\r\nUE;"),
    "an empty line": with_plain_line(lambda line: line + END.encode()),
    "an empty line at the end": change_bytes(lambda data: data + END.encode()),
    "an empty line above the names": change_bytes(lambda data: MARK + END.encode() + data[3:]),
    "a line of blanks": change_bytes(lambda data: data + b"   " + END.encode()),
    "no line end at the end": change_bytes(lambda data: data[:-2]),
    "text behind the end": change_bytes(lambda data: data + b"end"),
    "an end-of-file sign": change_bytes(lambda data: data + b"\x1a"),
    "no byte-order mark": change_bytes(lambda data: data[3:]),
    "two byte-order marks": change_bytes(lambda data: MARK + data),
    "UTF-16": change_bytes(lambda data: data[3:].decode().encode("utf-16")),
    "Latin-1": change_bytes(lambda data: data[3:].decode().encode("latin-1")),
    "a byte that is no UTF-8": once("Größe".encode(), b"Gr\xf6\xdfe"),
    "a zero byte": once(b";TRUE;", b";TRUE\0;"),
    "a zero byte at the end": change_bytes(lambda data: data + b"\0"),
    "compressed": change_bytes(compress),
    "another name": once(b"number", b"code"),
    "a name in capitals": once(b"note", b"Note"),
    "a blank in a name": once(b"note;", b"note ;"),
    "two names are exchanged": once(b"age;sex", b"sex;age"),
    "columns in another order": take_columns([1, 0, 2, 3, 4, 5, 6, 7, 8]),
    "a column less": take_columns([0, 1, 2, 3, 4, 5, 6, 7]),
    "a column more": take_columns([0, 1, 2, 3, 4, 5, 6, 7, 8, 8]),
    "no names": change_rows(lambda rows: rows[1:]),
    "the names twice": change_rows(lambda rows: [rows[0], *rows]),
    "a line of category numbers": change_rows(lambda rows: [rows[0], ["2"] * len(rows[0]), *rows[1:]]),
}

CROSSWALK = "release/crosswalk.csv"


def set_crosswalk(change):
    return change_rows(change, CROSSWALK)


def move_region(rows):
    other = next(row for row in rows[2:] if row[1] != rows[1][1])
    rows[1][1] = other[1]


def exchange_codes(rows):
    first, second, *_ = sorted({row[1] for row in rows[1:]})
    for row in rows[1:]:
        row[1] = {first: second, second: first}.get(row[1], row[1])


def rename_code(rows):
    code = rows[1][1]
    for row in rows[1:]:
        row[1] = "r3" if row[1] == code else row[1]


ON_CROSSWALKS = {
    "a region in another place": set_crosswalk(move_region),
    "a region less": set_crosswalk(lambda rows: rows.pop()),
    "a region twice": set_crosswalk(lambda rows: [*rows, rows[1]]),
    "regions in another order": set_crosswalk(lambda rows: [rows[0], *rows[:0:-1]]),
    "a code that is an id": set_crosswalk(rename_code),
    "two codes are exchanged": set_crosswalk(exchange_codes),
    "another id": set_crosswalk(lambda rows: rows[1].__setitem__(0, "r99")),
}


def tier_codes(release):
    with (release.folder / CROSSWALK).open(newline="") as file:
        _, *rows = csv.reader(file)
    return {row[1]: row[2] for row in rows}


def lift_rows(number):
    """Release rows in the larger area although the smaller one is safe."""

    def tamper(release):
        larger = tier_codes(release)

        def apply(rows):
            at = rows[0].index("region")
            chosen = next(row for row in rows[1:] if row[at] in larger)
            same = [row for row in rows[1:] if row[1:4] == chosen[1:4]]
            for row in same[:number]:
                row[at] = larger[row[at]]

        change_rows(apply)(release)

    return tamper


def lower_rows(number):
    """Release rows of a larger area in a smaller one."""

    def tamper(release):
        smaller = {above: below for below, above in tier_codes(release).items()}

        def apply(rows):
            at = rows[0].index("region")
            chosen = next(row for row in rows[1:] if row[at] in smaller)
            same = [row for row in rows[1:] if row[1:4] == chosen[1:4]]
            for row in same[:number]:
                row[at] = smaller[row[at]]

        change_rows(apply)(release)

    return tamper


ON_TIERS = {
    "a row in a larger area": lift_rows(1),
    "a class in a larger area": lift_rows(None),
    "a row in a smaller place": lower_rows(1),
    "a class in a smaller place": lower_rows(None),
    "a larger area is another": set_crosswalk(lambda rows: rows[1].__setitem__(2, rows[2][2] + "x")),
    "a place in two larger ones": set_crosswalk(
        lambda rows: next(row for row in rows[2:] if row[1] == rows[1][1]).__setitem__(2, "B999")
    ),
    "a row is lost": lose(3),
}


def equalise_illness(rows):
    """Let all records of a class have the same illness, and exchange values with others, so that totals stay."""
    at = rows[0].index("illness")
    chosen = rows[1]
    same = [row for row in rows[1:] if row[1:4] == chosen[1:4]]
    others = [row for row in rows[1:] if row[1:4] != chosen[1:4] and row[at] == "flu"]
    for row, other in zip([row for row in same if row[at] != "flu"], others, strict=False):
        row[at], other[at] = other[at], row[at]


def add_suppressed(rows):
    """Put five records back that the criterion keeps out: of one class, all with one illness."""
    return [*rows, *([["plain", "90", "f", rows[1][3], *rows[1][4:7], "flu"]] * 5)]


ON_CRITERIA = {
    "a class with one illness": change_rows(equalise_illness),
    "a suppressed class is back": change_rows(add_suppressed),
    "an illness is exchanged": change_rows(exchange("illness")),
}

INDEX = "internal/record_index.csv"
COUNTS = "release/class_counts.csv"


def swap_cells(column, first=1, second=2):
    def apply(rows):
        rows[first][column], rows[second][column] = rows[second][column], rows[first][column]

    return apply


ON_KEYS = {
    "two keys are exchanged": change_rows(exchange("key")),
    "a key is there twice": change_rows(lambda rows: rows[1].__setitem__(-1, rows[2][-1])),
    "a key in small letters": change_rows(set_field("key", str.lower)),
    "a key that the index lacks": change_rows(set_field("key", lambda text: "A" * 16)),
    "a key that is too short": change_rows(set_field("key", lambda text: text[:-1])),
    "an aggregated value is another": change_rows(set_field("amount", lambda text: "2.1")),
    "an aggregated value is rounded": change_rows(
        set_field("amount", lambda text: text[:3], lambda text: len(text) > 3)
    ),
    "aggregated values of a class are others": change_everywhere("amount", lambda text: "2"),
    "index: records are exchanged": change_rows(swap_cells(1), INDEX),
    "index: keys are exchanged": change_rows(swap_cells(0), INDEX),
    "index: rows are exchanged": change_rows(swap_cells(2), INDEX),
    "index: a key is lost": change_rows(lambda rows: rows.pop(), INDEX),
    "index: a record twice": change_rows(lambda rows: rows[1].__setitem__(1, rows[2][1]), INDEX),
    "index: another name": change_bytes(lambda data: data.replace(b"record_key", b"key", 1), INDEX),
    "index: no numbers": change_rows(lambda rows: rows[1].__setitem__(1, "x"), INDEX),
    "counts: another number": change_rows(
        lambda rows: rows[1].__setitem__(-1, str(int(rows[1][-1]) + 1)), COUNTS
    ),
    "counts: a class less": change_rows(lambda rows: rows.pop(), COUNTS),
    "counts: a class twice": change_rows(lambda rows: [*rows, rows[1]], COUNTS),
    "counts: another class": change_rows(lambda rows: rows[1].__setitem__(1, "31"), COUNTS),
    "counts: other names": change_rows(lambda rows: rows[0].__setitem__(0, "place"), COUNTS),
}


ON_MAPS = {
    "a record of a split region in another place": move_place(1),
    "two places of split regions are exchanged": change_rows(exchange("region")),
    "a record that the filter drops": change_rows(lambda rows: [*rows, [*rows[1][:-1], "cough"]]),
    "a record that the filter keeps is lost": lose(5),
}


def put(column, row, value):
    return change_table(lambda table: replace_value(table, column, row, value))


def cast(column, kind):
    def apply(table):
        at = table.column_names.index(column)
        return table.set_column(at, column, table.column(column).cast(kind))

    return change_table(apply)


def exchange_rows(table):
    """Exchange the notes of two rows that differ otherwise, too."""
    notes = table.column("note").to_pylist()
    ages = table.column("age").to_pylist()
    other = next(n for n in range(1, len(notes)) if notes[n] != notes[0] and ages[n] != ages[0])
    changed = replace_value(table, "note", 0, notes[other])
    return replace_value(changed, "note", other, notes[0])


ON_PARQUET = {
    "a text": put("note", 0, "plaim"),
    "a text with a blank": put("note", 0, "plain "),
    "a number": put("amount", 0, 1.5000000000000002),
    "a whole number": put("number", 0, 8),
    "no number": put("amount", 0, None),
    "no text": put("illness", 0, None),
    "a size": put("size", 0, 4),
    "an age": put("age", 0, "31"),
    "an unknown place": put("region", 0, "A999"),
    "two texts are exchanged": change_table(exchange_rows),
    "a row is lost": change_table(lambda table: table.slice(1)),
    "the last rows are lost": change_table(lambda table: table.slice(0, table.num_rows - 20)),
    "a row is there twice": change_table(lambda table: pa.concat_tables([table, table.slice(0, 1)])),
    "all rows are there twice": change_table(lambda table: pa.concat_tables([table, table])),
    "no rows": change_table(lambda table: table.slice(0, 0)),
    "sorted by place": change_table(lambda table: sort_table(table, "region")),
    "sorted by amount": change_table(lambda table: sort_table(table, "amount")),
    "numbers as text": cast("number", pa.string()),
    "numbers of another width": cast("number", pa.int32()),
    "numbers with a fraction": cast("number", pa.float64()),
    "shorter fractions": cast("amount", pa.float32()),
    "sizes of another width": cast("size", pa.int32()),
    "text as bytes": cast("note", pa.binary()),
    "another name": change_table(lambda table: table.rename_columns(["Note", *table.column_names[1:]])),
    "two names are exchanged": change_table(
        lambda table: table.rename_columns(
            [*table.column_names[:1], "sex", "age", *table.column_names[3:]]
        )
    ),
    "columns in another order": change_table(lambda table: table.select(table.column_names[::-1])),
    "a column less": change_table(lambda table: table.select(table.column_names[:-1])),
    "cut off": change_bytes(lambda data: data[:-9], "release/anonymized.parquet"),
    "its first half": change_bytes(lambda data: data[: len(data) // 2], "release/anonymized.parquet"),
    "no Parquet": change_bytes(lambda data: b"note;age\r\n", "release/anonymized.parquet"),
    "an empty file": change_bytes(lambda data: b"", "release/anonymized.parquet"),
}

ON_CSV_FROM_PARQUET = {
    "one value without quotes": once(b'"TRUE"', b"TRUE"),
    "no quotes": everywhere(b'"TRUE"', b"TRUE"),
    "another number": once(b'"3.25"', b'"3.250"'),
    "returns at the line ends": everywhere(b"\n", b"\r\n"),
    "a byte-order mark": change_bytes(lambda data: MARK + data),
    "a row is lost": lose(4),
}

WAYS = {
    "from parquet": ON_CSV_FROM_PARQUET,
    "csv": {**ON_CSV, **{f"crosswalk: {name}": change for name, change in ON_CROSSWALKS.items()}},
    "parquet": ON_PARQUET,
    "tiers": ON_TIERS,
    "criteria": ON_CRITERIA,
    "keys": ON_KEYS,
    "map": ON_MAPS,
}


def test_there_are_at_least_a_hundred_ways():
    assert sum(map(len, WAYS.values())) >= 100


@pytest.mark.parametrize("kind", WAYS)
def test_a_release_that_nobody_changed_passes(releases, tmp_path, kind):
    releases[kind].copy(tmp_path / "copy").verify()


@pytest.mark.parametrize(("kind", "way"), [(kind, way) for kind, ways in WAYS.items() for way in ways])
def test_every_change_is_noticed(releases, tmp_path, kind, way):
    release = releases[kind].copy(tmp_path / "copy")
    WAYS[kind][way](release)
    with pytest.raises(VerificationFailed):
        release.verify()


@pytest.mark.parametrize(
    "changed", [{"records": 899}, {"released": 1}, {"escaped": False}, {"class_size": None}]
)
def test_a_claim_that_is_not_true_is_noticed(releases, tmp_path, changed):
    release = releases["csv"].copy(tmp_path / "copy")
    with pytest.raises(VerificationFailed):
        release.verify(**changed)


def test_the_order_of_the_input_is_noticed_where_rows_are_said_to_be_shuffled(tmp_path):
    release = make_release(write_input(tmp_path / "input"), *CSV, "--no-shuffle")
    release.verify()
    with pytest.raises(VerificationFailed, match="in the order of the input"):
        release.verify(shuffled=True)


def test_any_other_random_order_will_do(releases, tmp_path):
    draw = random.Random(3)
    release = releases["csv"].copy(tmp_path / "copy")
    change_rows(lambda rows: [rows[0], *draw.sample(rows[1:], len(rows) - 1)])(release)
    release.verify()


@pytest.mark.parametrize(
    ("name", "text"), [("map.csv", "from,to\nr0,r1\n"), ("keep.csv", "illness\nflu\n")]
)
def test_a_map_or_filter_that_was_changed_is_noticed(tmp_path, name, text):
    folder = write_input(tmp_path / "input")
    lines = [f"r{number},r{number},0.5\nr{number},r{15 - number},0.5\n" for number in range(16)]
    (folder / "map.csv").write_text("from,to,share\n" + "".join(lines))
    (folder / "keep.csv").write_text("illness\nflu\ncold\nnone\n")
    chosen = ["--region-map", str(folder / "map.csv"), "--keep-records", str(folder / "keep.csv")]
    release = make_release(folder, "--delimiter", ";", *chosen)
    release.verify()
    (folder / name).write_text(text)
    with pytest.raises(VerificationFailed):
        release.verify()
