"""Damages every kind of input that commands read, and looks for tracebacks, leftovers and values of records.

`python tests/e2e/damaged_inputs.py [NUMBER] [SEED]` tries 300 inputs; `test_damaged_files.py` tries a few. Each record
has a value of its own that begins with a marker: no message may show it.
"""

from __future__ import annotations

import contextlib
import io
import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pyogrio.raw
import shapely
from damaged_files import CODES, Bench, damaged_bytes, damaged_json

from vbas_desktop.cli.main import main

MARKER = "Xq7vMarker"
_SLOTS = "centre,time,capacity\n" + "".join(f"c{n},{n},100\n" for n in range(8))
_SPEC = Path(__file__).parents[2] / "sample_data" / "spec.toml"


def without_names(data: bytes, _: random.Random) -> bytes:
    """Remove the line of names."""
    return data.partition(b"\n")[2]


def other_line_ends(data: bytes, draw: random.Random) -> bytes:
    """End lines with something that no text file here ends them with."""
    return data.replace(b"\n", draw.choice(("\u2028", "\r\r\n", "\r", "\u0085", "\v")).encode())


def other_delimiters(data: bytes, draw: random.Random) -> bytes:
    """Separate fields by something else, or by several things."""
    return data.replace(b",", draw.choice((b";", b"\t", b"|", b" ", b",,")))


def odd_values(data: bytes, draw: random.Random) -> bytes:
    """Replace some fields by numbers beyond any range, and by odd texts."""
    fields = data.split(b",")
    odd = (
        b"1e308",
        b"9" * 40,
        b"-9223372036854775809",
        b"NaN",
        b"inf",
        b"\xf0\x9f\x92\xa9",
        b"",
        b'"',
        b"=1+1",
    )
    for _ in range(20):
        fields[draw.randrange(len(fields))] = draw.choice(odd)
    return b",".join(fields)


INJURIES = (damaged_bytes, damaged_bytes, without_names, other_line_ends, other_delimiters, odd_values)


class Campaign(Bench):
    """Sound inputs of every kind, and a command that reads each."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._mark_records()
        self._write_others()
        assert main(self.run("records.csv", "regions.csv", out="run")) == 0
        file = str(folder / "records.csv")
        self.inputs: dict[str, tuple[str, Callable[[str], list[str]]]] = {
            "records": ("records.csv", self._of_records),
            "parquet": ("records.parquet", self._of_records),
            "regions": ("regions.csv", lambda name: self.run("records.csv", name)),
            "geojson": ("regions.geojson", lambda name: self.run("records.csv", name)),
            "geopackage": ("regions.gpkg", lambda name: self.run("records.csv", name)),
            "groups": ("groups.csv", lambda name: self._run_with("--generalise", name)),
            "hierarchy": (
                "hierarchy.csv",
                lambda name: self._run_with("--generalise", name, "sex={}:1"),
            ),
            "codebook": ("codebook.csv", lambda name: self._run_with("--codebook", name)),
            "filter": ("filter.csv", lambda name: self._run_with("--keep-records", name)),
            "population": ("population.csv", lambda name: self._run_with("--population", name)),
            "requirement": ("requirement.json", lambda name: self._run_with("--requirement", name)),
            "ids": ("ids.txt", lambda name: self._run_with("--alone", name, "@{}")),
            "policy": ("policy.toml", lambda name: ["policies", "check", str(folder / name)]),
            "spec": (
                "spec.toml",
                lambda name: ["generate", "--like", str(folder / name), "--out", str(self.out)],
            ),
            "slots": (
                "slots.csv",
                lambda name: ["appointments", file, str(folder / name), "--quasi-identifiers", "sex"],
            ),
            "crosswalk": (
                "run/release/crosswalk.csv",
                lambda name: self._run_with("--coarsen-from", name),
            ),
            "run": ("run/run.json", self._export),
        }

    def _mark_records(self) -> None:
        lines = (self.folder / "records.csv").read_text(encoding="utf-8").splitlines()
        place = lines[0].split(",").index("health_number")
        for number, line in enumerate(lines[1:], 1):
            fields = line.split(",")
            fields[place] = f"{MARKER}{number}"
            lines[number] = ",".join(fields)
        (self.folder / "records.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def _write_others(self) -> None:
        folder = self.folder
        table = pa_csv.read_csv(folder / "records.csv")
        pq.write_table(table, folder / "records.parquet")
        ids = [line.split(",")[0] for line in (folder / "regions.csv").read_text().splitlines()[1:]]
        boxes = [shapely.box(n % 20, n // 20, n % 20 + 1, n // 20 + 1) for n in range(len(ids))]
        shapes, names = shapely.to_wkb(np.array(boxes, object)), [np.array(ids, object)]
        path = str(folder / "regions.gpkg")
        pyogrio.raw.write(
            path, shapes, names, ["tract"], geometry_type="Polygon", crs="EPSG:3347", driver="GPKG"
        )
        sexes = sorted(set(table.column("sex").to_pylist()))
        texts = {
            "groups.csv": "column,value,group\n" + "".join(f"sex,{sex},all\n" for sex in sexes),
            "hierarchy.csv": "".join(f"{sex};all\n" for sex in sexes),
            "codebook.csv": "column,value,label\n" + "".join(f"sex,{sex},label\n" for sex in sexes),
            "filter.csv": "sex,age\n"
            + "".join(f"{sex},\n" for sex in sexes)
            + f"{sexes[0]},{table['age'][0]}\n",
            "population.csv": "tract,sex,people\n"
            + "".join(f"{id},{sex},50\n" for id in ids for sex in sexes),
            "requirement.json": '{"format_version": 1, "overall": {"precision": {"min": 0.1}}}',
            "ids.txt": "\n".join(ids[:5]) + "\n",
            "slots.csv": _SLOTS,
            "spec.toml": _SPEC.read_text(encoding="utf-8").replace("records = ", "records = 200 # "),
        }
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        main(["policies", "template", "--out", str(folder / "policy.toml")])

    def _of_records(self, name: str) -> list[str]:
        file, draw = str(self.folder / name), random.Random((self.folder / name).read_bytes())
        out, regions = ["--out", str(self.out)], str(self.folder / "regions.csv")
        columns = ["--region-column", "tract", "--quasi-identifiers", "sex"]
        return draw.choice(
            (
                self.run(name, "regions.csv"),
                ["outliers", file, "--quasi-identifiers", "sex,age", "-k", "3"],
                ["outliers", file, "--quasi-identifiers", "sex", "-k", "3", "--handle", "delete", *out],
                ["risky", file, "--columns", "sex,age", "-k", "2", "--apply", *out],
                ["risky", file, "--max-size", "1"],
                ["verify", file, "--quasi-identifiers", "sex", "--region-column", "tract"],
                ["search", file, regions, *columns, "--identifiers", "health_number", "-k", "2", *out],
                ["representability", file, file, "--key", "health_number", "--quasi-identifiers", "sex"],
                ["appointments", file, str(self.folder / "slots.csv"), "--quasi-identifiers", "sex"],
                self.run("records.csv", name),
                [*self.run("records.csv", "regions.csv"), "--generalise", file],
                [*self.run("records.csv", "regions.csv"), "--alone", f"@{file}"],
                [*self.run("records.csv", "regions.csv"), "--population", file],
            )
        )

    def _run_with(self, option: str, name: str, form: str = "{}") -> list[str]:
        more = ["--construction", "coarsen"] if option == "--coarsen-from" else []
        return [*self.run("records.csv", "regions.csv"), *more, option, form.format(self.folder / name)]

    def _export(self, name: str) -> list[str]:
        folder = self.folder / "again"
        folder.mkdir(exist_ok=True)
        shutil.copy(self.folder / name, folder / "run.json")
        return ["export", str(folder), "--out", str(self.out)]

    def damage_and_use(self, draw: random.Random) -> str | None:
        """Damage one input and use it; tell what is wrong with what came of it, if anything."""
        kind = draw.choice(list(self.inputs))
        source, command = self.inputs[kind]
        data = (self.folder / source).read_bytes()
        injure = draw.choice(INJURIES)
        if kind in ("run", "requirement", "geojson") and draw.random() < 0.7:
            injure = damaged_json
        elif kind in ("parquet", "geopackage"):
            injure = damaged_bytes
        name = "damaged" + Path(source).suffix
        (self.folder / name).write_bytes(injure(data, draw))
        before = {path.name for path in self.folder.iterdir()}
        words = [word for word in command(name) if word != "--quiet"]
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = main(words)
        except SystemExit as stopped:
            code = int(str(stopped.code))
        except BaseException as error:  # noqa: BLE001 (whatever gets out is what is looked for)
            return f"{kind}, {injure.__name__}, {words[0]}: {type(error).__name__}: {error}"
        text = said.getvalue()
        wrong = [word for word in ("unforeseen", "Traceback", "Warning:", MARKER) if word in text]
        new = {path.name for path in self.folder.iterdir()} - before
        left = [found for found in new if found.startswith(".") or (code and found == "out")]
        for path in (self.out, *self.folder.glob("out.*"), *self.folder.glob(".out*")):
            shutil.rmtree(path, ignore_errors=True)
            if path.is_file():
                path.unlink()
        if code not in CODES or wrong or left or (code and not text.strip()):
            return f"{kind}, {injure.__name__}, {' '.join(words)[:200]}: code {code}, {wrong}, {left}, {text[-300:]}"
        return None


def damaged_inputs(folder: Path, number: int, seed: int) -> list[str]:
    """Try so many inputs, and give what went wrong with its seed."""
    campaign = Campaign(folder)
    found = ((each, campaign.damage_and_use(random.Random(each))) for each in range(seed, seed + number))
    return [f"seed {each}: {wrong}" for each, wrong in found if wrong is not None]


if __name__ == "__main__":
    number, seed = (int(text) for text in (*sys.argv[1:], *("300", "0")[len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory() as made:
        found = damaged_inputs(Path(made), number, seed)
    sys.stdout.write(
        "\n".join([*found, f"{number} damaged inputs, {len(found)} of them handled wrongly\n"])
    )
    sys.exit(bool(found))
