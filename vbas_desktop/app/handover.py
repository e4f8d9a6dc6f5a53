"""What is checked of a handover before anything is computed: the audience, the k of the comparison, and the target."""

from __future__ import annotations

import os
import shlex
from datetime import date as Date
from itertools import chain, count
from pathlib import Path

from vbas_desktop.io.databases.address import containing_folder, server_name
from vbas_desktop.io.documents.run_file import RUN_FILE, read_run_file
from vbas_desktop.io.paths import user_data_folder
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.releases.ledger import LEDGER_FILE, Ledger, LedgerEntry, read_ledger, similar_audience
from vbas_desktop.settings.writing import RecipientOptions

UNCONFIRMED = "unconfirmed-ledger"
"""The code of the finding that only a run.json names the ledger."""
AUDIENCE = "audience"
RECORDED = "recorded-release"
OCCUPIED = "release-exists"
"""The codes of findings: a name that is nearly known, a target that the ledger records, one that holds a release."""


def usual_ledger(records: str | Path) -> Path:
    """Return the path of the ledger if none is named: beside the records.

    A server has no such place; all that is made from one database is in one ledger among the user's own files.
    """
    folder = containing_folder(records)
    if folder is not None:
        return folder / LEDGER_FILE
    return user_data_folder() / "ledgers" / f"{server_name(records)}.json"


def ledger_behind(path: Path) -> Path:
    """Return the path of a ledger; for records of a release that have none beside them, that of what it was made from.

    So what is made from an earlier release is compared with what its audience has without anybody naming the ledger.
    """
    folder = path.parent.parent
    if path.exists() or path.parent.name != "release" or not (folder / RUN_FILE).is_file():
        return path
    try:
        records = (read_run_file(folder).get("options") or {}).get("records")
    except InputError:
        return path
    return ledger_behind(usual_ledger(records)) if records else path


def ledger_of_records(handing: RecipientOptions, records: str | Path) -> Path:
    """Return the path of the ledger that a release of these records is compared with: the named one, else the usual."""
    return ledger_behind(Path(handing.ledger) if handing.ledger else usual_ledger(records))


def ledger_of_run(folder: Path, records: str | Path) -> Path:
    """Find the ledger of a run whose run.json names the records; `InputError` if nobody but that file vouches for it.

    A run.json may come from others, and whoever prepared a ledger knows the key of all hashes in it. So the ledger must
    be beside the folder of the run, or among the user's own files; any other one has to be named.
    """
    path = ledger_behind(usual_ledger(records))
    # Without links and "..", by which a path could only seem to lie in one of these folders.
    target = Path(os.path.realpath(path))
    own_ledger = Path(os.path.realpath(folder)).parent / LEDGER_FILE
    if target == own_ledger or target.is_relative_to(os.path.realpath(user_data_folder())):
        return path
    message = (
        f"The ledger would be {path}, because {RUN_FILE} names records there. "
        f"A {RUN_FILE} may come from others, so this ledger is not used unasked."
    )
    remedy = f"If it is your ledger, add --ledger {shlex.quote(str(path))}; otherwise name yours."
    raise InputError(Finding(UNCONFIRMED, message, remedy, file=str(folder)))


class SimilarAudience(InputError):
    """An audience whose name is nearly that of one in the ledger, ``known``."""

    def __init__(self, name: str, known: str) -> None:
        self.known = known
        message = f"The audience “{name:.80}” is not in the ledger, but “{known:.80}” is."
        remedy = (
            f"If they are the same, use --audience {shlex.quote(known)}; if not, add --new-audience."
        )
        super().__init__(Finding(AUDIENCE, message, remedy))


def check_audience(audience: str, ledger: Ledger) -> None:
    """Raise `SimilarAudience` if the ledger has another name that may be meant."""
    known = similar_audience(audience, (entry.audience for entry in ledger))
    if known is not None:
        raise SimilarAudience(audience.strip(), known)


def check_handover(handing: RecipientOptions, records: str | Path, target: Path) -> None:
    """Refuse a release that would be refused by the ledger in any case, before anything is computed.

    Raises `SimilarAudience`, or `InputError` if the k of the comparison has no reason or the ledger has the release
    that would be replaced.
    """
    if (handing.compared_k is None) == bool((handing.k_reason or "").strip()):
        message = "Another k beside earlier releases (--ledger-k) and its reason (--ledger-reason) belong together."
        raise InputError(Finding("ledger", message, "Give both, or neither."))
    ledger = read_ledger(ledger_of_records(handing, records), must_exist=False)
    recorded = recorded_release(target, ledger)
    if recorded is not None:
        message = f"This folder holds {recorded.title}, which the ledger records, so it is not replaced."
        raise InputError(Finding(RECORDED, message, "Choose another folder.", file=str(target)))
    if not handing.new_audience:
        check_audience(handing.audience or "", ledger)


def recorded_release(target: Path, ledger: Ledger) -> LedgerEntry | None:
    """Find the entry of the release in a folder: by its path, or by its checksums if it was moved or copied."""
    try:
        if not target.is_dir() or not any(target.iterdir()):
            return None
        sums = (target / "release" / "SHA256SUMS").read_text(encoding="utf-8").split()
    except (OSError, ValueError):
        sums = []
    folder = str(target.resolve())
    return next(
        (entry for entry in ledger if entry.folder == folder or entry.released_sha256 in sums), None
    )


def check_unoccupied(target: Path) -> None:
    """Refuse a folder that holds an earlier release, naming it, so that a person is asked before it is replaced."""
    run_file = target / RUN_FILE
    if not run_file.is_file():
        return
    written = Date.fromtimestamp(run_file.stat().st_mtime).isoformat()
    message = f"The folder “{target.name:.80}” holds an earlier release, written on {written}."
    raise InputError(Finding(OCCUPIED, message, "Choose another folder.", file=str(target)))


def find_new_folder(wanted: Path, progress: Progress = NO_PROGRESS) -> Path:
    """Return a folder that does not exist: the wanted one, or one with a number after its name."""
    progress.update("Looking for a new folder")
    numbered = (wanted.with_name(f"{wanted.name} {number}") for number in count(2))
    return next(folder for folder in chain((wanted,), numbered) if not folder.exists())
