"""The lock file installs the same everywhere: hashes for all packages, addresses for none."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "packaging" / "requirements.lock").read_text(encoding="utf-8")
SOURCES = (ROOT / "packaging" / "sources.lock").read_text(encoding="utf-8")


def _normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_lock_names_no_address():
    assert "://" not in LOCK + SOURCES


def test_every_locked_package_has_a_hash():
    entries = re.split(r"\n(?=\S)", LOCK.strip())
    assert len(entries) > 50
    entries += re.split(r"\n(?=\S)", SOURCES.strip())
    assert [entry.split("==")[0] for entry in entries if "--hash=sha256:" not in entry] == []


def test_every_dependency_of_the_project_is_locked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["dev"]
    locked = set(re.findall(r"^([\w.-]+)==", LOCK, re.M))
    assert {_normal(re.match(r"[\w.-]+", one)[0]) for one in wanted} - locked == set()


def test_what_sources_need_is_locked_and_nothing_twice():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {
        _normal(re.match(r"[\w.-]+", one)[0]) for one in project["optional-dependencies"]["sources"]
    }
    locked = set(re.findall(r"^([\w.-]+)==", SOURCES, re.M))
    assert wanted - locked == set()
    assert locked & set(re.findall(r"^([\w.-]+)==", LOCK, re.M)) == set()
