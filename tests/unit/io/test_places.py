"""Files that come with the program are found in a source tree and in an installed package."""

import pytest

from vbas_desktop.io import paths as places


def test_the_icon_of_the_source_tree_is_found():
    assert places.resource_path("icons/vbas.svg").read_text(encoding="utf-8").startswith("<svg")


def test_documentation_and_sample_data_stand_at_the_top_of_the_source_tree():
    top = places.documentation_folder().parent
    assert (top / "pyproject.toml").is_file()
    assert places.sample_data_folder() == top / "sample_data"


@pytest.mark.parametrize("folder", ["resources", "sample_data", "docs"])
def test_an_installed_program_ignores_folders_of_strangers_beside_it(folder, tmp_path, monkeypatch):
    (tmp_path / folder).mkdir()
    monkeypatch.setattr(places, "_PACKAGE", tmp_path / "vbas_desktop")
    assert places._find_shipped(folder) == tmp_path / "vbas_desktop" / f"_{folder}"
