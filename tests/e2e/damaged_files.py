"""Damages record, region, run and project files at random and sees what the program says of them.

`python tests/e2e/damaged_files.py [NUMBER] [SEED]` tries 300 files; `test_damaged_files.py` tries a few.
Whatever a file is like, the program ends with a code of its own, in words, and without a half result.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from vbas_desktop.cli.main import main
from vbas_desktop.model.findings import InputError
from vbas_desktop.ui.state.project import read_project

CODES = {0, 1, 2, 3}
PROJECTS = Path(__file__).parents[1] / "unit" / "ui" / "state" / "projects"
_PIECES = (
    b'"',
    b"\0",
    b"\r",
    b"\n",
    b",",
    b"\xff\xfe",
    b"\x1f\x8b",
    b"{",
    b"[",
    b"NaN",
    b"1e999",
    b"-1",
    b"\xc3",
    b"null",
)
_VALUES: tuple[object, ...] = (
    None,
    -1,
    0,
    1.5,
    1e308,
    "",
    "x",
    [],
    {},
    [None],
    {"a": 1},
    True,
    10**30,
    "\0",
)


def damaged_bytes(data: bytes, draw: random.Random) -> bytes:
    """One to four injuries: cut, doubled, overwritten, inserted, turned."""
    found = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(found) + 1)
        to = min(len(found), at + draw.choice((1, 3, 50, 1000)))
        kind = draw.randrange(6)
        if kind == 0:
            del found[at:]
        elif kind == 1:
            del found[at:to]
        elif kind == 2:
            found[at:at] = found[at:to]
        elif kind == 3:
            found[at:at] = draw.choice(_PIECES)
        elif kind == 4:
            found[at:to] = draw.randbytes(to - at)
        elif at < to:
            found[at] ^= 1 << draw.randrange(8)
    return bytes(found)


def damaged_json(data: bytes, draw: random.Random) -> bytes:
    """A value somewhere in the document is gone or another."""
    document = json.loads(data)
    places = []

    def walk(node: object) -> None:
        items = (
            node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        )
        for key, value in list(items):
            places.append((node, key))
            walk(value)

    walk(document)
    for _ in range(draw.randint(1, 3)):
        node, key = draw.choice(places)
        with contextlib.suppress(KeyError, IndexError):
            if draw.random() < 0.3:
                del node[key]
            else:
                node[key] = draw.choice(_VALUES)
    return json.dumps(document).encode()


class Bench:
    """Sound files in a folder, and the commands that read them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.out = folder, folder / "out"
        sample = Path(__file__).parents[2] / "sample_data"
        records = (sample / "records.csv").read_text(encoding="utf-8").splitlines(keepends=True)[:400]
        (folder / "records.csv").write_text("".join(records), encoding="utf-8")
        shutil.copy(sample / "regions.geojson", folder / "regions.geojson")
        rows = [
            f"{feature['properties']['id']},{n % 20},{n // 20}\n"
            for n, feature in enumerate(self._features())
        ]
        (folder / "regions.csv").write_text("tract,x,y\n" + "".join(rows))
        assert main(self.run("records.csv", "regions.csv", out="run")) == 0
        self.kinds: dict[str, tuple[str, Callable[[str], int]]] = {
            "records": ("records.csv", self.read_records),
            "regions": ("regions.csv", lambda name: main(self.run("records.csv", name))),
            "shapes": ("regions.geojson", lambda name: main(self.run("records.csv", name))),
            "run": ("run/run.json", self.export),
            "project": (next(PROJECTS.glob("*.vbas")).name, self.open_project),
        }
        shutil.copy(next(PROJECTS.glob("*.vbas")), folder)

    def _features(self) -> list[dict[str, dict[str, str]]]:
        features: list[dict[str, dict[str, str]]] = json.loads(
            (self.folder / "regions.geojson").read_text()
        )["features"]
        return features

    def run(self, records: str, regions: str, out: str = "out") -> list[str]:
        """A small run with a release."""
        columns = [
            "--region-column",
            "tract",
            "--quasi-identifiers",
            "sex",
            "--identifiers",
            "health_number",
        ]
        more = [
            "-k",
            "2",
            "--sites",
            "3",
            "--range-reach",
            "0",
            "--unknown-regions",
            "suppress",
            "--quiet",
        ]
        return [
            "run",
            *(str(self.folder / name) for name in (records, regions)),
            *columns,
            *more,
            "--out",
            str(self.folder / out),
        ]

    def read_records(self, name: str) -> int:
        """Every command that reads records; the first code that is none of ours, else the last."""
        file = str(self.folder / name)
        codes = [
            main(self.run(name, "regions.csv")),
            main(["outliers", file, "--quasi-identifiers", "sex,age", "-k", "3", "--quiet"]),
            main(
                [
                    "risky",
                    file,
                    "--columns",
                    "sex,age",
                    "-k",
                    "2",
                    "--apply",
                    "--out",
                    str(self.out) + "-r",
                    "--quiet",
                ]
            ),
            main(["verify", file, "--quasi-identifiers", "sex", "--region-column", "tract", "--quiet"]),
        ]
        shutil.rmtree(str(self.out) + "-r", ignore_errors=True)
        return next((code for code in codes if code not in CODES), codes[-1])

    def export(self, name: str) -> int:
        """The release once more, from a damaged run.json."""
        folder = self.folder / "again"
        folder.mkdir(exist_ok=True)
        shutil.copy(self.folder / name, folder / "run.json")
        return main(["export", str(folder), "--out", str(self.out), "--quiet"])

    def open_project(self, name: str) -> int:
        """A project file is read or refused in words."""
        try:
            read_project(self.folder / name)
        except InputError:
            return 1
        return 0

    def attempt(self, draw: random.Random) -> str | None:
        """Damage one file and use it; what is wrong with what came of it, if anything."""
        kind = draw.choice(list(self.kinds))
        source, use = self.kinds[kind]
        data = (self.folder / source).read_bytes()
        by_json = kind in ("run", "project", "shapes") and draw.random() < 0.7
        name = "damaged" + Path(source).suffix
        (self.folder / name).write_bytes((damaged_json if by_json else damaged_bytes)(data, draw))
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = use(name)
        except BaseException as error:  # noqa: BLE001 (whatever gets out is what is looked for)
            return f"{kind}: {type(error).__name__}: {error}"
        finally:
            shutil.rmtree(self.out, ignore_errors=True)
        text = said.getvalue()
        left = [path.name for path in self.folder.iterdir() if "vbas-partial" in path.name]
        if (
            code not in CODES
            or "unforeseen" in text
            or "Traceback" in text
            or left
            or (code and not text and kind != "project")
        ):
            return f"{kind}: code {code}, {left}, {text[-300:]}"
        return None


def attempts(folder: Path, number: int, seed: int) -> list[str]:
    """What went wrong in so many attempts, with the seed of each."""
    bench, wrong = Bench(folder), []
    for each in range(seed, seed + number):
        found = bench.attempt(random.Random(each))
        if found is not None:
            wrong.append(f"seed {each}: {found}")
    return wrong


if __name__ == "__main__":
    number, seed = (int(text) for text in (*sys.argv[1:], *("300", "0")[len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory() as made:
        found = attempts(Path(made), number, seed)
    sys.stdout.write(
        "\n".join([*found, f"{number} damaged files, {len(found)} of them handled wrongly\n"])
    )
    sys.exit(bool(found))
