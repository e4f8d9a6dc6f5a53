"""Links and entries of other users in a shared folder are neither followed nor changed."""

import os
import stat

import pytest
from release_making import random_rows, write_records, write_regions

from vbas_desktop.cli.main import main
from vbas_desktop.io.exchange import remove_folder
from vbas_desktop.io.output import remove_unlocked_folder

NAMES = (".out.vbas-0123456789abcdef", ".other.vbas-0123456789abcdef")


@pytest.fixture
def run(tmp_path):
    records = write_records(tmp_path, random_rows(200, seed=1))
    regions = write_regions(tmp_path)
    shared = tmp_path / "shared"
    shared.mkdir()
    chosen = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age,sex",
        "--identifiers",
        "name",
        "--quiet",
    ]
    return lambda: main(["run", str(records), str(regions), *chosen, "--out", str(shared / "out")])


@pytest.fixture
def private(tmp_path):
    """A folder of the user that nobody may change, with a file in it."""
    folder = tmp_path / "private"
    folder.mkdir()
    (folder / "kept.txt").write_text("kept")
    folder.chmod(0o500)
    return folder


def mode(path):
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.mark.parametrize("name", NAMES)
def test_a_link_named_like_a_leftover_is_left_alone(tmp_path, run, private, name):
    link = tmp_path / "shared" / name
    link.symlink_to(private)
    assert run() == 0
    assert (tmp_path / "shared" / "out" / "run.json").is_file()
    assert mode(private) == 0o500
    assert (private / "kept.txt").read_text() == "kept"
    assert link.is_symlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make entries of another user")
@pytest.mark.parametrize("name", NAMES)
def test_a_leftover_of_another_user_is_left_alone(tmp_path, run, name):
    folder = tmp_path / "shared" / name
    folder.mkdir(0o500)
    os.chown(folder, 65_534, 65_534)
    assert run() == 0
    assert mode(folder) == 0o500
    assert folder.lstat().st_uid == 65_534


def test_a_leftover_of_the_user_is_removed_but_not_what_its_links_lead_to(tmp_path, run, private):
    folder = tmp_path / "shared" / NAMES[0]
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "link").symlink_to(private)
    (folder / "inner").chmod(0o500)
    assert run() == 0
    assert not folder.exists()
    assert mode(private) == 0o500
    assert (private / "kept.txt").read_text() == "kept"


def test_what_a_link_leads_to_is_neither_removed_nor_locked(tmp_path, private):
    link = tmp_path / "link"
    link.symlink_to(private)
    assert not remove_folder(link)
    assert mode(private) == 0o500
    remove_unlocked_folder(link)
    assert link.is_symlink()
    assert [path.name for path in private.iterdir()] == ["kept.txt"]


def test_the_lock_of_a_ledger_is_never_a_link(tmp_path, run, capsys):
    assert run() == 0
    ledger = tmp_path / "ledger.json"
    target = tmp_path / "made-by-a-link"
    (tmp_path / ".ledger.json.lock").symlink_to(target)
    command = [
        "ledger",
        "record",
        str(tmp_path / "shared" / "out"),
        "--audience",
        "Uni",
        "--ledger",
        str(ledger),
    ]
    assert main(command) == 1
    assert "is a link" in capsys.readouterr().err
    assert not target.exists()
    assert not ledger.exists()
