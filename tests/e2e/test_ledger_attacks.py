"""Releases that the ledger lets pass are attacked with linear programming, from the written files alone."""

from __future__ import annotations

import csv
import itertools
import json
import math
import re
import shlex

import numpy as np
import pytest
from release_making import write_regions
from scipy.optimize import linprog

from vbas_desktop.cli.main import main

K = 4
AGES, SEXES = ("old", "young"), ("f", "m")
IDS = [f"r{number}" for number in range(16)]


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write(folder, table, name="records.csv"):
    """A record for everybody of a table by region, age and sex; every one with an illness."""
    with (folder / name).open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["age", "sex", "region", "illness", "since"])
        number = 0
        for region, age, sex in itertools.product(range(16), range(2), range(2)):
            for _ in range(int(table[region, age, sex])):
                number += 1
                out.writerow(
                    [AGES[age], SEXES[sex], IDS[region], f"ill-{number % 5}", f"since-{number % 7}"]
                )
    return folder / name


def run(folder, out, *options, records="records.csv", quasi="age,sex"):
    files = [str(folder / records), str(folder / "regions.csv")]
    chosen = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        quasi,
        "-k",
        str(K),
        "--range-reach",
        "0",
    ]
    more = [
        "--allow-column",
        "illness,since,age,sex",
        "--site-location",
        "density",
        "--no-pdf",
        "--quiet",
    ]
    return main(["run", *files, *chosen, *more, "--out", str(folder / out), *options])


class Recipient:
    """Knows the files that he got, k, and that what a release lacks has fewer than k records. He wants to know who
    lives where: ``known`` are bounds of sums over the table by initial region, age and sex.
    """

    def __init__(self):
        self.equal, self.upper, self.regions_by_tier = [], [], []

    def get(self, folder):
        """Take a release in. One that is made from another's regions is led back to the initial ones."""
        walk = {
            row["initial_region"]: row["aggregated_region"] for row in rows_of(folder / "crosswalk.csv")
        }
        made_from_another = set(walk) != set(IDS)
        if made_from_another:
            walk = {region: walk[place] for region, place in self.walk.items()}
        else:
            self.walk = walk
        rows = rows_of(folder / "anonymized.csv")
        names = [name for name in ("age", "sex") if name in rows[0]]
        for place in sorted(set(walk.values())):
            here = np.array([walk[region] == place for region in IDS])
            self.regions_by_tier.append(here)
            for values in itertools.product(*({"age": AGES, "sex": SEXES}[name] for name in names)):
                given = dict(zip(names, values, strict=True))
                number = sum(
                    row["region"] == place and all(row[n] == v for n, v in given.items()) for row in rows
                )
                self._learn(here, given, number, exact=len(names) == 2 and not made_from_another)

    def _mask(self, here, given):
        mask = np.zeros((16, 2, 2))
        age = AGES.index(given["age"]) if "age" in given else slice(None)
        mask[here, age, SEXES.index(given["sex"]) if "sex" in given else slice(None)] = 1
        return mask.ravel()

    def _learn(self, here, given, number, exact):
        mask = self._mask(here, given)
        if exact and number:
            self.equal.append((mask, number))
            return
        # What it lists is there. Of what it lacks there may be more, in the places and classes that it was made from.
        self.upper.append((-mask, -number))
        if exact:
            self.upper.append((mask, K - 1))

    def singled_out(self, table):
        """Places and values that are proved to have 1 to k − 1 people."""
        found = []
        inside = {
            tuple(np.logical_and.reduce(pair))
            for pair in itertools.combinations(self.regions_by_tier, 2)
        }
        places = [*self.regions_by_tier, *(np.array(each) for each in inside if any(each))]
        for here in places:
            for age, sex in itertools.product((*AGES, None), (*SEXES, None)):
                given = {
                    name: value for name, value in (("age", age), ("sex", sex)) if value is not None
                }
                mask = self._mask(here, given)
                if 0 < mask @ table.ravel() < K and self._bound(mask) >= 1 and -self._bound(-mask) < K:
                    found.append((here, given))
        return found

    def _bound(self, mask):
        """The least that the sum can be, as a whole number."""
        columns = {}
        for name, rows in (("eq", self.equal), ("ub", self.upper)):
            if rows:
                columns[f"A_{name}"] = np.array([mask for mask, _ in rows])
                columns[f"b_{name}"] = np.array([number for _, number in rows])
        solved = linprog(mask, bounds=(0, None), **columns)
        assert solved.status in (0, 3), solved.message
        return -math.inf if solved.status == 3 else math.ceil(solved.fun - 1e-6)


def test_a_recipient_finds_whom_two_releases_expose_and_nobody_in_one():
    """The attack itself: nine of eleven people are in one half, so two are in the other."""
    table = np.zeros((16, 2, 2), int)
    table[0, 0, 0], table[1, 0, 0] = 2, 9
    recipient = Recipient()
    everywhere, first = np.ones(16, bool), np.arange(16) == 1
    recipient.regions_by_tier = [everywhere, first, ~first]
    recipient._learn(everywhere, {"age": "old", "sex": "f"}, 11, exact=True)
    assert recipient.singled_out(table) == []
    recipient._learn(first, {"age": "old", "sex": "f"}, 9, exact=True)
    here, given = recipient.singled_out(table)[0]
    assert (here.sum(), given) == (15, {"age": "old", "sex": "f"})


def released(recipient, *folders):
    for folder in folders:
        recipient.get(folder / "release")
    return recipient


def offered(said):
    return [
        shlex.split(line)[1:]
        for line in re.findall(r"^\(\d\) .*?: (vbas .*)$", said, flags=re.MULTILINE)
    ]


@pytest.fixture(params=[1, 2])
def house(request, tmp_path):
    """A first release that was handed over; some of its classes are too small."""
    table = np.random.default_rng(request.param).integers(0, 4, (16, 2, 2))
    write(tmp_path, table)
    write_regions(tmp_path)
    assert run(tmp_path, "first", "--sites", "5") == 0
    assert main(["ledger", "record", str(tmp_path / "first"), "--audience", "Uni", "--quiet"]) == 0
    return tmp_path, table


def test_every_alternative_to_a_refused_release_is_attacked_in_vain(house, capsys):
    folder, table = house
    first = folder / "first"
    assert released(Recipient(), first).singled_out(table) == []
    assert run(folder, "second", "--sites", "8", "--audience", "Uni") == 1
    ways = offered(capsys.readouterr().err)
    assert len(ways) == 3
    handed = []
    for number, words in enumerate(ways):
        target = folder / f"way-{number}"
        assert (
            main([*(str(target) if word == "NEW" else word for word in words), "--quiet", "--no-pdf"])
            == 0
        )
        assert json.loads((target / "run.json").read_text())["ledger_check"]["safe"]
        handed.append(target)
        # Beside the first one, and beside all that was handed over in its place before.
        assert released(Recipient(), first, *handed).singled_out(table) == []
    # Regions that are joined further on the same records, if the check lets them pass.
    coarse = [
        "--construction",
        "coarsen",
        "--coarsen-from",
        str(first),
        "--sites",
        "3",
        "--audience",
        "Uni",
    ]
    if run(folder, "coarse", *coarse) == 0:
        assert released(Recipient(), first, folder / "coarse").singled_out(table) == []
    # What was refused would have been a success: the attack is no blunt one.
    assert run(folder, "second", "--sites", "8", "--ledger", str(folder / "none.json")) == 0
    assert released(Recipient(), first, folder / "second").singled_out(table) != []


def test_regions_joined_on_the_records_are_attacked_in_vain_or_refused(tmp_path):
    """Where nothing was suppressed they pass; where they show what was left out they do not."""
    write_regions(tmp_path)
    (tmp_path / "then.csv").write_text(
        "initial_region,aggregated_region\n" + "".join(f"r{n},A{n // 4}\n" for n in range(16))
    )
    coarse = ["--construction", "coarsen", "--coarsen-from", str(tmp_path / "then.csv")]
    passed = refused = exposing = 0
    for number in range(4):
        table = np.random.default_rng(number).integers(1, 5, (16, 2, 2))
        if number % 2:
            # Eight people in three of the four regions, three in each at most: nobody is listed, everybody is there.
            table[:12, 1, 1] = (1, 1, 1, 0) * 2 + (1, 1, 0, 0)
        name = f"records-{number}.csv"
        write(tmp_path, table, name)
        alone = ["--ledger", str(tmp_path / f"ledger-{number}.json"), "--audience", "Uni"]
        assert run(tmp_path, f"fine-{number}", *coarse, "--sites", "4", *alone, records=name) == 0
        record = ["ledger", "record", str(tmp_path / f"fine-{number}"), *alone, "--quiet"]
        assert main(record) == 0
        if run(tmp_path, f"joined-{number}", *coarse, "--sites", "1", *alone, records=name) == 0:
            passed += 1
            both = released(Recipient(), tmp_path / f"fine-{number}", tmp_path / f"joined-{number}")
            assert both.singled_out(table) == []
        else:
            refused += 1
            assert (
                run(tmp_path, f"joined-{number}", *coarse, "--sites", "1", *alone[2:], records=name) == 0
            )
            both = released(Recipient(), tmp_path / f"fine-{number}", tmp_path / f"joined-{number}")
            exposing += both.singled_out(table) != []
    assert passed
    assert refused
    assert exposing, "what is refused is worth an attack"


def test_a_third_release_is_refused_though_every_two_are_safe(tmp_path, capsys):
    table = np.zeros((16, 2, 2), int)
    table[:, 0, :] = 9
    table[:4, 1, 1] = 2, 1, 1, 1
    write(tmp_path, table)
    write_regions(tmp_path)
    partitions = {"all": (0, 0, 0, 0), "second": (0, 0, 1, 2), "third": (0, 1, 2, 2)}
    for name, parts in partitions.items():
        rest = [f"r{n},{'A0' if name == 'all' else 'A9'}\n" for n in range(4, 16)]
        own = [f"r{n},A{part}\n" for n, part in enumerate(parts)]
        (tmp_path / f"{name}.csv").write_text(
            "".join(["initial_region,aggregated_region\n", *own, *rest])
        )

    def made(name, *ledger):
        sites = str(
            len({line.split(",")[1] for line in (tmp_path / f"{name}.csv").read_text().splitlines()[1:]})
        )
        coarse = [
            "--construction",
            "coarsen",
            "--coarsen-from",
            str(tmp_path / f"{name}.csv"),
            "--sites",
            sites,
        ]
        return run(tmp_path, name, *coarse, "-k", "5", *ledger)

    def record(name, ledger):
        assert (
            main(["ledger", "record", str(tmp_path / name), "--audience", "Uni", *ledger, "--quiet"])
            == 0
        )

    for one, other in itertools.combinations(partitions, 2):
        ledger = ["--ledger", str(tmp_path / f"{one}-{other}.json")]
        assert made(one, *ledger) == 0
        record(one, ledger)
        assert made(other, *ledger) == 0, "every two of them are safe"
    capsys.readouterr()
    for order in (("all", "second", "third"), ("third", "second", "all")):
        ledger = ["--ledger", str(tmp_path / f"{'-'.join(order)}.json")]
        for name in order[:2]:
            assert made(name, *ledger) == 0
            record(name, ledger)
        assert made(order[2], *ledger) == 1
        assert (
            "Together with releases 1, 2, all of them, this release would show"
            in capsys.readouterr().err
        )
    # Once all three were handed over, one that shows nothing beyond them is accepted.
    assert made(order[2], *ledger, "--despite-ledger", "a test") == 0
    record(order[2], ledger)
    capsys.readouterr()
    coarse = ["--construction", "coarsen", "--coarsen-from", str(tmp_path / "all.csv"), "--sites", "1"]
    assert run(tmp_path, "ages", *coarse, "-k", "5", *ledger, quasi="age") == 0
