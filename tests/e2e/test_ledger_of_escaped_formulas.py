"""Releases with and without `--escape-formulas` hold the same values for the ledger."""

from __future__ import annotations

from ledger_house import people, run, write
from release_making import write_regions

from vbas_desktop.cli.main import main
from vbas_desktop.releases.ledger.ledger_file import read_ledger

ILLNESSES = ("=a", "+b", "-c", "@d", "\uff1de", "\u00a0=f", "'+5", "-6", "'quoted", "plain")


def test_values_are_hashed_as_they_were_before_formulas_were_escaped(tmp_path):
    rows = people(600, 1)
    for number, row in enumerate(rows):
        row[4] = ILLNESSES[number % len(ILLNESSES)]
        row[1] = f"={row[1]}"
    write(tmp_path / "records.csv", rows)
    write_regions(tmp_path)
    ledger = ("--ledger", str(tmp_path / "ledger.json"))
    for out, options in (("plain", ()), ("escaped", ("--escape-formulas",))):
        assert run(tmp_path, out, "--sites", "3", *options, *ledger, "--audience", out) == 0
        assert (
            main(["ledger", "record", str(tmp_path / out), "--audience", out, *ledger, "--quiet"]) == 0
        )
    text = (tmp_path / "escaped" / "release" / "anonymized.csv").read_text()
    assert all(value in text for value in ("'=a", "'+b", "'-c", "'@d", "'\uff1de"))
    plain, escaped = read_ledger(tmp_path / "ledger.json")
    assert set(plain.classes.combinations.tolist()) == set(escaped.classes.combinations.tolist())
    assert sorted(plain.rows.columns["illness"].values.tolist()) == sorted(
        escaped.rows.columns["illness"].values.tolist()
    )
