"""The lock file installs the same everywhere: hashes for all packages, addresses for none."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "packaging" / "requirements.lock").read_text(encoding="utf-8")


def _normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_lock_names_no_address():
    assert "://" not in LOCK


def test_every_locked_package_has_a_hash():
    entries = re.split(r"\n(?=\S)", LOCK.strip())
    assert len(entries) > 50
    assert [entry.split("==")[0] for entry in entries if "--hash=sha256:" not in entry] == []


def test_every_dependency_of_the_project_is_locked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["dev"]
    locked = set(re.findall(r"^([\w.-]+)==", LOCK, re.M))
    assert {_normal(re.match(r"[\w.-]+", one)[0]) for one in wanted} - locked == set()
