"""Any text is read as a slow reader reads it that looks at one character after the other, or refused for its reason."""

import gzip

from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.io.records.file_format import ReadLimits
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.model.findings import InputError, Severity
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.settings.reading import RecordReading

PIECES = st.lists(
    st.sampled_from(
        [
            "a",
            "1",
            ",",
            ",",
            '"',
            '""',
            "\n",
            "\n",
            "\r\n",
            "\r",
            "é",
            "€",
            ' "',
            '",',
            ',"',
            '"\r\n',
            "\ufeff",
        ]
    ),
    max_size=50,
)
COLUMNS = 2


class SlowReader:
    """Reads rows of two columns: ``rows`` with the lines they begin on, ``blank`` lines, ``wrong`` rows by kind."""

    def __init__(self, text):
        self.rows = []
        self.blank = 0
        self.wrong = {"ragged-row": [], "line-ends": [], "open-quote": []}
        self.text = text if text.endswith("\n") or not text else text + "\n"
        self.position = 0
        self.line = 2
        while self.position < len(self.text):
            self.read_row()

    def at(self, expected):
        return self.text.startswith(expected, self.position)

    def read_row(self):
        begin = self.line
        if self.at("\n") or self.at("\r\n"):
            self.blank += 1
            self.end_line()
            return
        fields = []
        is_stray = False
        while True:
            field = self.read_field()
            if field is None:
                self.wrong["open-quote"].append(begin)
                return
            fields.append(field[0])
            is_stray = is_stray or field[1]
            if not self.at(","):
                break
            self.position += 1
        self.end_line()
        if is_stray:
            self.wrong["line-ends"].append(begin)
        elif len(fields) != COLUMNS:
            self.wrong["ragged-row"].append(begin)
        else:
            self.rows.append((begin, tuple(fields)))

    def read_field(self):
        """Return the value and whether it has a return outside quotes; None if a quote is not closed."""
        value = ""
        if self.at('"'):
            self.position += 1
            while not self.at('"') or self.at('""'):
                if self.position >= len(self.text):
                    return None
                self.line += self.at("\n")
                self.position += 2 if self.at('""') else 1
                value += self.text[self.position - 1]
            self.position += 1
        outside = ""
        while not (self.at(",") or self.at("\n") or self.at("\r\n")):
            outside += self.text[self.position]
            self.position += 1
        return value + outside, "\r" in outside

    def end_line(self):
        self.position += 2 if self.at("\r\n") else 1
        self.line += 1


@settings(max_examples=600, deadline=None)
@given(
    pieces=PIECES,
    block=st.sampled_from([24, 25, 26, 27, 32, 45, 1 << 16]),
    threads=st.sampled_from([1, 2]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    compressed=st.booleans(),
)
def test_any_text_is_read_or_refused_as_by_the_slow_reader(
    tmp_path_factory, pieces, block, threads, encoding, compressed
):
    text = "".join(pieces)
    expected = SlowReader(text)
    path = tmp_path_factory.mktemp("nasty") / "records.csv"
    data = f"x,y\n{text}".encode(encoding)
    path.write_bytes(gzip.compress(data) if compressed else data)
    limits = ReadLimits(block_bytes=block, threads=threads)
    try:
        table = load_records(path, RecordReading(delimiter=",", category_counts="no"), limits=limits)
    except InputError as refused:
        found = [finding for finding in refused.findings if finding.severity is Severity.ERROR]
        if not any(expected.wrong.values()):
            assert [finding.code for finding in found] in (["no-records"], ["no-names"])
            return
        for code, rows in expected.wrong.items():
            assert [finding.row for finding in found if finding.code == code and finding.row] == rows[
                :10
            ]
        return
    assert not any(expected.wrong.values())
    columns = [
        [facts.categories.values[code] for code in table.codes(facts.name)] for facts in table.columns
    ]
    assert list(zip(*columns, strict=True)) == [row for _, row in expected.rows]
    assert [table.row_number(record) for record in range(table.rows)] == [
        line for line, _ in expected.rows
    ]
    batches = table.read_batches(["x", "y"], NO_PROGRESS, "Reading")
    assert [tuple(row.values()) for batch in batches for row in batch.to_pylist()] == [
        row for _, row in expected.rows
    ]
    hints = {finding.code: finding.message for finding in table.findings}
    assert ("blank-lines" in hints) == (expected.blank > 0)
    if expected.blank:
        assert hints["blank-lines"].startswith(f"{expected.blank} blank line")
