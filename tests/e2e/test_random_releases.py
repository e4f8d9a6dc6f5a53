"""Random releases are exactly what a plain recomputation with pandas says they must be.

``VBAS_RANDOM_RELEASES=300 pytest tests/e2e/test_random_releases.py`` tries more of them than CI does.
"""

import os
from collections import Counter

import pandas as pd
import pytest
from random_releases import draw_scenario, find_errors, make_release

N_RELEASES = int(os.environ.get("VBAS_RANDOM_RELEASES", "24"))
FIRST_SEED = int(os.environ.get("VBAS_RANDOM_RELEASES_FROM", "0"))
PER_TEST = 6
SEEDS = range(FIRST_SEED, FIRST_SEED + N_RELEASES)
# What a drawn scenario may be refused for; anything else that is refused is a fault.
REFUSALS = ("not a single record", "no record", "Nothing would be released")


@pytest.mark.parametrize(
    "seeds", [SEEDS[start : start + PER_TEST] for start in range(0, N_RELEASES, PER_TEST)]
)
def test_random_releases_are_what_a_plain_recomputation_says(seeds, tmp_path, capsys):
    outcomes = Counter()
    for seed in seeds:
        scenario = draw_scenario(seed)
        code, result = make_release(scenario, tmp_path / str(seed))
        output = capsys.readouterr()
        if code == 1:
            assert not result.exists()
            assert any(words in output.err for words in REFUSALS), f"seed {seed}: {output.err}"
            outcomes["refused"] += 1
            continue
        assert code == 0, f"seed {seed}: {output.err}"
        assert find_errors(scenario, result) == [], f"seed {seed}"
        outcomes["released"] += 1
    assert outcomes["released"] > 0


def spoil_class(released: pd.DataFrame) -> pd.DataFrame:
    return released.drop(index=released.index[0])


def spoil_value(released: pd.DataFrame) -> pd.DataFrame:
    return released.assign(visits=["9", *released["visits"][1:]])


def spoil_repetition(released: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([released, released.iloc[:1]])


@pytest.mark.parametrize("spoil", [spoil_class, spoil_value, spoil_repetition])
def test_the_checker_notices_a_spoilt_release(spoil, tmp_path, capsys):
    scenario = next(
        drawn
        for drawn in map(draw_scenario, range(1000))
        if drawn.release_format == drawn.record_format == "csv"
        and drawn.delimiter == ","
        and "fixed" in drawn.options
        and drawn.criterion is None
    )
    code, result = make_release(scenario, tmp_path)
    assert code == 0, capsys.readouterr().err
    assert find_errors(scenario, result) == []
    path = result / "release" / "anonymized.csv"
    released = pd.read_csv(path, dtype=str, keep_default_na=False)
    spoil(released).to_csv(path, index=False)
    assert find_errors(scenario, result) != []
