"""The Debian package: what lies where, and that menu entry, icon and file type belong together."""

from __future__ import annotations

import configparser
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPACE = {"m": "http://www.freedesktop.org/standards/shared-mime-info"}


@pytest.fixture(scope="module")
def deb(tmp_path_factory) -> Path:
    """A package of a folder that stands for the frozen programs."""
    if shutil.which("dpkg-deb") is None:
        pytest.skip("needs dpkg-deb")
    folder = tmp_path_factory.mktemp("frozen")
    programs = folder / "vbas-desktop"
    programs.mkdir()
    for name in ("vbas", "vbas-desktop"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    subprocess.run([ROOT / "packaging" / "make-deb", programs, folder], check=True, capture_output=True)
    (made,) = folder.glob("*.deb")
    return made


def test_programs_menu_entry_icon_and_file_type_are_where_debian_looks_for_them(deb):
    listed = subprocess.run(["dpkg-deb", "-c", deb], check=True, capture_output=True, text=True).stdout
    lines = {line.split()[5]: line for line in listed.splitlines()}
    assert lines["./usr/bin/vbas"].endswith("-> ../lib/vbas-desktop/vbas")
    assert lines["./usr/bin/vbas-desktop"].endswith("-> ../lib/vbas-desktop/vbas-desktop")
    assert {
        "./usr/lib/vbas-desktop/vbas",
        "./usr/share/applications/vbas-desktop.desktop",
        "./usr/share/icons/hicolor/scalable/apps/vbas-desktop.svg",
        "./usr/share/icons/hicolor/scalable/mimetypes/application-x-vbas.svg",
        "./usr/share/mime/packages/vbas-desktop.xml",
        "./usr/share/doc/vbas-desktop/copyright",
    } <= set(lines)
    assert {line.split()[1] for line in lines.values()} == {"root/root"}
    assert {line[7:10] for line in lines.values() if not line.startswith("l")} <= {"r-x", "r--"}


def test_the_package_asks_for_the_system_libraries_that_the_window_needs(deb):
    told = subprocess.run(
        ["dpkg-deb", "-f", deb, "Depends"], check=True, capture_output=True, text=True
    ).stdout
    depends = {each.split()[0] for each in told.split(",")}
    lines = (ROOT / "packaging" / "debian-packages.txt").read_text().splitlines()
    assert depends == {"libc6", *(line.split()[0] for line in lines if not line.startswith("#"))}


def test_a_project_is_opened_by_the_program_of_the_menu_entry():
    entry = configparser.ConfigParser(interpolation=None)
    entry.read(ROOT / "packaging" / "desktop" / "vbas-desktop.desktop")
    told = entry["Desktop Entry"]
    assert told["Exec"] == "vbas-desktop %f"
    types = ElementTree.parse(ROOT / "packaging" / "desktop" / "vbas-desktop.xml")
    (kind,) = types.findall("m:mime-type", SPACE)
    assert told["MimeType"].strip(";") == kind.get("type")
    assert [glob.get("pattern") for glob in kind.findall("m:glob", SPACE)] == ["*.vbas"]
