"""Every command that a document shows works as printed, one after the other, in a folder with the sample data."""

import re
import shlex
from pathlib import Path

import pytest

from vbas_desktop.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    "README.md",
    "sample_data/README.md",
    "docs/commands.md",
    "docs/finding-a-release.md",
    "docs/appointments.md",
    "docs/risky-combinations.md",
    "docs/representability.md",
    "docs/sensitive-values.md",
]
TOO_LARGE = re.compile(
    r"--like (eastern|central|western)|--country|appointments-experiment|vbas compare"
)
"""Hours, gigabytes, or what has tests of its own at a smaller size."""


def commands_in(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        for line in block.replace("\\\n", " ").splitlines():
            if not language and line.startswith("vbas ") and not TOO_LARGE.search(line):
                yield line


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_the_page_work_as_printed(page, tmp_path, monkeypatch, capsys):
    for folder in ("sample_data", "docs"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    lines = list(commands_in(page))
    assert lines
    for line in lines:
        assert main([*shlex.split(line)[1:]]) == 0, f"{line}\n{capsys.readouterr().err}"
