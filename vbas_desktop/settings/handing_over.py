"""Who gets a release and where, and where is written what they have already."""

from __future__ import annotations

from dataclasses import dataclass

from .declaration import Settings, setting
from .forms import Form

_GROUP = "ledger"


@dataclass(frozen=True)
class HandingOver(Settings):
    """The audience of a release and the ledger that it is checked against.

    ``ledger`` None: the one beside the record file, if there is one. Without an ``audience`` the release is compared
    with everything that was handed over to anybody. ``despite`` is why it is handed over although people could be
    singled out. ``also`` is the address of a place that gets the released records, too.
    """

    ledger: str | None = setting(
        None,
        label="Ledger",
        help="File with what was handed over so far.",
        in_command="file with what was handed over so far (default: vbas-ledger.json beside the records, if there)",
        option="--ledger",
        group=_GROUP,
        form=Form("FILE"),
    )
    audience: str | None = setting(
        None,
        label="A&udience",
        help="Who gets the release: what they have already is compared with it. “public” is everybody.",
        in_command="who gets the release: it is compared with what they have already; “public” is everybody "
        "(default: compared with all that anybody has)",
        option="--audience",
        group=_GROUP,
    )
    despite: str | None = setting(
        None,
        label="Reaso&n to release all the same",
        help="Kept in run.json and in the ledger.",
        in_command="release although people could be singled out beside earlier releases, for this reason; it is kept",
        option="--despite-ledger",
        group=_GROUP,
        form=Form("REASON"),
    )
    also: str | None = setting(
        None,
        label="Also p&ut it into",
        help="A folder, FILE.parquet, FILE.duckdb#schema.table, or a table or folder of a server; left empty: nowhere.",
        in_command="put the released records into this place, too: a folder, FILE.parquet, FILE.duckdb#schema.table, "
        "postgresql://user@host/database#schema.table, spark://host:port/folder or …#schema.table",
        option="--target",
        group=_GROUP,
        form=Form("ADDRESS"),
    )
