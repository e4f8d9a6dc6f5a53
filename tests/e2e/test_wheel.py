"""The wheel is complete: icons, sample data and documentation travel inside it and are found there."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The wheel, unpacked into a folder as an installation would."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=240)
    (wheel,) = folder.glob("*.whl")
    site = folder / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


@pytest.mark.parametrize(
    ("folder", "inside"),
    [("resources", "_resources"), ("sample_data", "_sample_data"), ("docs", "_docs")],
)
def test_every_shipped_file_is_in_the_wheel(installed, folder, inside):
    shipped = {path.relative_to(ROOT / folder) for path in (ROOT / folder).rglob("*") if path.is_file()}
    inside_wheel = installed / "vbas_desktop" / inside
    assert shipped
    assert {
        path.relative_to(inside_wheel) for path in inside_wheel.rglob("*") if path.is_file()
    } == shipped


def test_an_installed_program_finds_its_own_files(installed):
    script = (
        "from vbas_desktop.io.paths import resource_path; print(resource_path('icons/vbas.svg'), end='')"
    )
    found = subprocess.run(
        [sys.executable, "-c", script],
        cwd=installed,
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    assert Path(found.stdout) == installed / "vbas_desktop" / "_resources" / "icons" / "vbas.svg"
    assert Path(found.stdout).is_file()
