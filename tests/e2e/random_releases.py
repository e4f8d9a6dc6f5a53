"""Random releases, and a checker that recomputes them with plain pandas.

Nothing of the program is imported here but its command: what must be in a release follows from the input, the
crosswalk of the release and the documented rules alone.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from vbas_desktop.cli.main import main

REGION = "district"
IDENTIFIER = "name"
SENSITIVE = "diagnosis"
BENIGN = "none"
UNKNOWN_REGION = "elsewhere"
RECORD_KEY = "key"
AGGREGATED = "visits"
MAPPED_PREFIX = "area of "
EVERY_CLASS = 10**9


@dataclass(frozen=True)
class Scenario:
    """One drawn input with the settings of its release, and what the checker must know of them.

    ``records`` are in the file. Those without one of the ``required`` combinations, or with one of the ``unwanted``
    ones, are not considered; both tables have the columns of a filter file (None: no filter). With ``with_region_map``
    the records name areas, each of which is one region. ``aggregate_below``: the column `AGGREGATED` has one value in
    smaller classes (0: it is released as it is).
    """

    seed: int
    records: pd.DataFrame
    regions: pd.DataFrame
    quasi_identifiers: list[str]
    k: int
    options: list[str]
    record_format: str
    release_format: str
    delimiter: str = ","
    age_groups: dict[str, str] = field(default_factory=dict)
    criterion: tuple[str, list[float]] | None = None
    with_tiers: bool = False
    within_county: bool = False
    with_category_counts: bool = False
    required: pd.DataFrame | None = None
    unwanted: pd.DataFrame | None = None
    with_record_key: bool = False
    with_region_map: bool = False
    aggregate_below: int = 0

    @property
    def considered(self) -> pd.DataFrame:
        """Return the records that the filters leave, by their numbers in the file."""
        chosen = np.ones(len(self.records), bool)
        for table, is_required in ((self.required, True), (self.unwanted, False)):
            if table is not None:
                combinations = set(table.itertuples(index=False, name=None))
                rows = self.records[list(table.columns)].itertuples(index=False, name=None)
                chosen &= np.array([(row in combinations) == is_required for row in rows])
        return self.records[chosen]


def draw_scenario(seed: int) -> Scenario:
    """Draw a geography, a record file and settings; equal seeds give equal scenarios."""
    generator = np.random.default_rng(seed)
    regions = _draw_regions(generator)
    records = _draw_records(generator, regions["id"].tolist())
    available = ["age", "sex", "status"]
    quasi_identifiers = [
        str(name) for name in generator.permutation(available)[: generator.integers(1, 4)]
    ]
    k = int(generator.choice([2, 3, 5, 8, 12]))
    options = _draw_approaches(generator, len(regions))
    within_county = bool(generator.random() < 0.2)
    if within_county:
        options += ["--within", "county"]
    with_tiers = bool(generator.random() < 0.35)
    if with_tiers:
        options += ["--tiers", str(generator.choice(["auto", "county"])) if within_county else "auto"]
        if generator.random() < 0.5:
            options += ["--tier-factor", str(generator.integers(3, 9))]
    criterion = _draw_criterion(generator)
    if criterion is not None:
        name, numbers = criterion
        limits = ",".join(f"{number:g}" for number in numbers)
        options += ["--criterion", f"{name}:{limits}", "--benign", f"{SENSITIVE}={BENIGN}"]
    if criterion is not None or generator.random() < 0.3:
        options += ["--sensitive", SENSITIVE]
    age_groups = {}
    if "age" in quasi_identifiers and generator.random() < 0.3:
        age_groups = {"10": "young", "20": "young", "30": "middle", "40": "middle"}
    if generator.random() < 0.3:
        options += ["--no-shuffle"]
    if generator.random() < 0.3:
        options += ["--no-global-suppression"]
    if generator.random() < 0.25:
        _move_to_unknown_region(generator, records)
        options += ["--unknown-regions", "suppress"]
    return Scenario(
        seed=seed,
        records=records,
        regions=regions,
        quasi_identifiers=quasi_identifiers,
        k=k,
        options=options,
        record_format=str(generator.choice(["csv", "csv", "parquet"])),
        release_format=str(generator.choice(["csv", "csv", "parquet"])),
        delimiter=str(generator.choice([",", ";", "\t"])),
        age_groups=age_groups,
        criterion=criterion,
        with_tiers=with_tiers,
        within_county=within_county,
        with_category_counts=bool(generator.random() < 0.15),
        **_draw_additions(seed, records),
    )


def _draw_additions(seed: int, records: pd.DataFrame) -> dict[str, Any]:
    """Draw filters, keys, a map of regions and aggregated values, by a generator of their own."""
    generator = np.random.default_rng([seed, 1])
    drawn: dict[str, Any] = {}
    if generator.random() < 0.2:
        drawn["required"] = (
            records[["sex", "visits"]].drop_duplicates().sample(frac=0.8, random_state=seed)
        )
    if generator.random() < 0.2:
        drawn["unwanted"] = records[["note"]].drop_duplicates().sample(n=1, random_state=seed)
    drawn["with_record_key"] = bool(generator.random() < 0.3)
    drawn["with_region_map"] = bool(generator.random() < 0.2)
    if generator.random() < 0.3:
        drawn["aggregate_below"] = int(generator.choice([10, 30, EVERY_CLASS]))
    return drawn


def _draw_regions(generator: np.random.Generator) -> pd.DataFrame:
    """Draw points on a jittered grid, some of them in one line or at one point."""
    n_regions = int(generator.integers(2, 50))
    columns = max(1, round(math.sqrt(n_regions)))
    numbers = np.arange(n_regions)
    x = (numbers % columns) * 1000.0
    y = (numbers // columns) * 1000.0
    if generator.random() < 0.8:
        x = x + generator.normal(0, 200, n_regions).round(3)
        y = y + generator.normal(0, 200, n_regions).round(3)
    style = generator.choice(["R{:03d}", "{:05d}", "Ö {}", "K1A {}B"])
    return pd.DataFrame(
        {
            "id": [str(style).format(number + 7) for number in numbers],
            "x": x,
            "y": y,
            "county": [f"county {number // (columns * 3)}" for number in numbers],
        }
    )


def _draw_records(generator: np.random.Generator, region_ids: Sequence[str]) -> pd.DataFrame:
    """Draw records whose regions are unevenly filled and whose texts need quoting."""
    n_records = int(generator.integers(60, 2500))
    weights = generator.dirichlet(np.full(len(region_ids), 0.7))
    notes = [
        "",
        "plain",
        "with, comma; and semicolon",
        'a "quoted" word',
        "two\nlines",
        "tab\tinside",
        "ÄÖ",
    ]
    return pd.DataFrame(
        {
            IDENTIFIER: [f"person {number}" for number in range(n_records)],
            "age": generator.choice(
                ["10", "20", "30", "40", "55", "70"], n_records, p=[0.3, 0.25, 0.2, 0.15, 0.07, 0.03]
            ),
            REGION: generator.choice(region_ids, n_records, p=weights),
            "sex": generator.choice(["f", "m", "other"], n_records, p=[0.5, 0.47, 0.03]),
            "status": generator.choice(
                ["single", "married", "", "say “maybe”, not no"], n_records, p=[0.4, 0.4, 0.15, 0.05]
            ),
            SENSITIVE: generator.choice(
                [BENIGN, "flu", "asthma", "HIV", "", "gout"],
                n_records,
                p=[0.5, 0.2, 0.15, 0.05, 0.05, 0.05],
            ),
            "visits": generator.choice(["1", "2", "3"], n_records),
            "note": generator.choice(notes, n_records),
        }
    ).astype(object)


def _draw_approaches(generator: np.random.Generator, n_regions: int) -> list[str]:
    """Draw one approach per component."""
    options = [
        "--random-seed",
        str(generator.integers(1000)),
        "--range-reach",
        str(generator.integers(0, 3)),
    ]
    site_number = str(generator.choice(["fixed", "fixed", "limit", "maxcombs", "entropy", "anonymity"]))
    options += ["--site-number", site_number]
    if site_number == "fixed":
        options += ["--sites", str(generator.integers(1, n_regions + 1))]
    if site_number == "limit":
        options += ["--allowed-loss", str(generator.choice([1, 5, 20, 60]))]
    locations = [
        "balanced-density",
        "adc",
        "centroidal",
        "density-peaks",
        "density",
        "anonymity",
        "random",
        "refine-sites",
    ]
    options += ["--site-location", str(generator.choice(locations))]
    options += ["--construction", str(generator.choice(["voronoi", "voronoi", "voronoi", "growth"]))]
    options += ["--refinement", str(generator.choice(["none", "none", "contiguous", "boundaries"]))]
    return options


def _draw_criterion(generator: np.random.Generator) -> tuple[str, list[float]] | None:
    """Draw a criterion for the sensitive column, or none."""
    choices: list[tuple[str, list[float]]] = [
        ("share", [40.0]),
        ("share", [75.0]),
        ("distinct", [3.0]),
        ("entropy", [1.8]),
        ("recursive", [2.0, 2.0]),
        ("closeness", [0.3]),
    ]
    if generator.random() < 0.6:
        return None
    return choices[generator.integers(len(choices))]


def _move_to_unknown_region(generator: np.random.Generator, records: pd.DataFrame) -> None:
    """Give a few records a region that the region file lacks."""
    chosen = generator.choice(len(records), size=max(1, len(records) // 50), replace=False)
    records.loc[chosen, REGION] = UNKNOWN_REGION


def write_inputs(scenario: Scenario, folder: Path) -> list[str]:
    """Write the files of a scenario, and return the arguments of ``vbas run`` that name them."""
    folder.mkdir(parents=True)
    regions = folder / "regions.csv"
    scenario.regions.to_csv(regions, index=False)
    rows = scenario.records
    if scenario.with_region_map:
        rows = rows.assign(**{REGION: MAPPED_PREFIX + rows[REGION]})
    if scenario.with_category_counts:
        counts = {name: str(rows[name].nunique()) for name in rows.columns}
        rows = pd.concat([pd.DataFrame([counts]), rows], ignore_index=True)
    records = folder / f"records.{scenario.record_format}"
    if scenario.record_format == "parquet":
        rows.astype(str).to_parquet(records, index=False)
    else:
        rows.to_csv(records, index=False, sep=scenario.delimiter, lineterminator="\n")
    arguments = [str(records), str(regions), "--region-column", REGION]
    arguments += ["--category-counts", "yes" if scenario.with_category_counts else "no"]
    arguments += [
        "--quasi-identifiers",
        ",".join(scenario.quasi_identifiers),
        "--identifiers",
        IDENTIFIER,
    ]
    arguments += ["-k", str(scenario.k), "--format", scenario.release_format]
    if scenario.age_groups:
        groups = folder / "groups.csv"
        lines = [f"age,{value},{group}\n" for value, group in scenario.age_groups.items()]
        groups.write_text("column,value,group\n" + "".join(lines), encoding="utf-8")
        arguments += ["--generalise", str(groups)]
    return arguments + _write_additions(scenario, folder) + scenario.options


def _write_additions(scenario: Scenario, folder: Path) -> list[str]:
    """Write filters and the map of regions, and return the arguments of what is added."""
    arguments = []
    for option, table in (("--keep-records", scenario.required), ("--drop-records", scenario.unwanted)):
        if table is not None:
            path = folder / f"{option[2:]}.csv"
            table.to_csv(path, index=False, lineterminator="\n")
            arguments += [option, str(path)]
    if scenario.with_region_map:
        areas = pd.DataFrame(
            {"from": MAPPED_PREFIX + scenario.regions["id"], "to": scenario.regions["id"]}
        )
        areas.to_csv(folder / "areas.csv", index=False)
        arguments += ["--region-map", str(folder / "areas.csv")]
    if scenario.with_record_key:
        arguments += ["--record-key", RECORD_KEY]
    if scenario.aggregate_below:
        classes = (
            "all" if scenario.aggregate_below == EVERY_CLASS else f"below:{scenario.aggregate_below}"
        )
        arguments += ["--aggregate", AGGREGATED, "--aggregate-classes", classes]
    return arguments


def make_release(scenario: Scenario, folder: Path) -> tuple[int, Path]:
    """Run ``vbas run`` on a scenario, and return its exit code and the folder of its result."""
    target = folder / "result"
    arguments = write_inputs(scenario, folder / "input")
    arguments += ["--out", str(target), "--no-pdf", "--quiet", "--exceed-loss"]
    plain = [
        name
        for name in scenario.records.columns
        if name not in (IDENTIFIER, REGION, *scenario.quasi_identifiers)
    ]
    arguments += ["--allow-column", ",".join(plain)]
    return main(["run", *arguments]), target


def find_errors(scenario: Scenario, result: Path) -> list[str]:
    """Recompute a release from its input and its crosswalk, and describe everything that is wrong with it."""
    return list(_errors(scenario, result))


def _errors(scenario: Scenario, result: Path) -> Iterator[str]:
    release = result / "release"
    released = _read_release(scenario, release)
    crosswalk = pd.read_csv(release / "crosswalk.csv", dtype=str, keep_default_na=False)
    expected_columns = [name for name in scenario.records.columns if name != IDENTIFIER]
    expected_columns += [RECORD_KEY] * scenario.with_record_key
    if list(released.columns) != expected_columns:
        yield f"the columns are {list(released.columns)}"
        return
    if scenario.with_record_key:
        yield from _key_errors(scenario, result, released)
        released = released.drop(columns=RECORD_KEY)
    yield from _crosswalk_errors(scenario, crosswalk)
    yield from _class_errors(scenario, released)
    yield from _record_errors(scenario, released, crosswalk)
    yield from _table_errors(release, released, crosswalk)
    yield from _figure_errors(scenario, result, released)
    yield from _checksum_errors(release)


def _read_release(scenario: Scenario, release: Path) -> pd.DataFrame:
    if scenario.release_format == "parquet":
        return pd.read_parquet(release / "anonymized.parquet").astype(object).fillna("")
    # A file that was Parquet has no delimiter of its own: the release then has commas.
    delimiter = "," if scenario.record_format == "parquet" else scenario.delimiter
    with (release / "anonymized.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter=delimiter)
    return pd.DataFrame(rows, columns=header, dtype=object)


def _crosswalk_errors(scenario: Scenario, crosswalk: pd.DataFrame) -> Iterator[str]:
    """Every initial region has exactly one aggregated region, larger areas nest, and counties are kept."""
    if sorted(crosswalk["initial_region"]) != sorted(scenario.regions["id"]):
        yield "the crosswalk does not list every initial region once"
    levels = _place_levels(crosswalk)
    for smaller, larger in pairwise(levels):
        if crosswalk.groupby(smaller)[larger].nunique().max() > 1:
            yield f"a place of {smaller} lies in several places of {larger}"
    if scenario.within_county:
        county = crosswalk["initial_region"].map(scenario.regions.set_index("id")["county"])
        if county.groupby(crosswalk["aggregated_region"]).nunique().max() > 1:
            yield "an aggregated region lies in several counties"


def _place_levels(crosswalk: pd.DataFrame) -> list[str]:
    """Name the columns of the crosswalk that hold places, smallest places first."""
    return ["aggregated_region", *(name for name in crosswalk.columns if name.startswith("tier_"))]


def _class_errors(scenario: Scenario, released: pd.DataFrame) -> Iterator[str]:
    """Every released class has k records and meets the criterion."""
    classes = released.groupby([REGION, *scenario.quasi_identifiers], dropna=False)
    smallest = classes.size().min()
    if smallest < scenario.k:
        yield f"a released class has {smallest} records, k is {scenario.k}"
    if scenario.criterion is not None:
        reference = released[SENSITIVE].value_counts(normalize=True)
        failing = sum(
            not _meets_criterion(values, scenario.criterion, reference)
            for _, values in classes[SENSITIVE]
        )
        if failing:
            yield f"{failing} released classes fail {scenario.criterion}"


def _meets_criterion(
    values: pd.Series, criterion: tuple[str, list[float]], reference: pd.Series
) -> bool:
    """Judge the sensitive values of one class by the documented definition."""
    name, numbers = criterion
    counts = values.value_counts()
    harmful = counts[counts.index != BENIGN]
    if harmful.empty:
        return True
    size = len(values)
    tolerance = 1e-9
    if name == "share":
        return bool(100 * harmful.max() / size <= numbers[0] * (1 + tolerance))
    if name == "distinct":
        return len(counts) >= numbers[0]
    if name == "entropy":
        shares = counts / size
        return math.exp(-(shares * np.log(shares)).sum()) >= numbers[0] * (1 - tolerance)
    if name == "closeness":
        excess = (harmful / size - reference.reindex(harmful.index)).clip(lower=0).sum()
        return bool(excess <= numbers[0] * (1 + tolerance))
    return _is_recursive_diverse(counts, harmful, *numbers)


def _is_recursive_diverse(counts: pd.Series, harmful: pd.Series, factor: float, rank: float) -> bool:
    """Judge positive-disclosure recursive (c,l)-diversity.

    The most frequent harmful value must be less frequent than c times the records that are left when it and the
    l − 2 most frequent other values are taken away.
    """
    most_frequent = harmful.sort_values(ascending=False)
    others = counts.drop(most_frequent.index[0]).sort_values(ascending=False)
    rest = others.iloc[int(rank) - 2 :].sum()
    return bool(most_frequent.iloc[0] < factor * rest)


def _record_errors(scenario: Scenario, released: pd.DataFrame, crosswalk: pd.DataFrame) -> Iterator[str]:
    """The released records are exactly those that the rules release, with the place that the rules give them."""
    placed = _join_places(scenario, crosswalk)
    if scenario.with_tiers:
        placed[REGION] = _places_in_tiers(scenario, placed, crosswalk)
    else:
        placed[REGION] = placed["aggregated_region"]
        classes = placed.groupby([REGION, *scenario.quasi_identifiers])
        placed.loc[classes[REGION].transform("size") < scenario.k, REGION] = None
    exact = scenario.criterion is None or (
        not scenario.with_tiers and scenario.criterion[0] != "closeness"
    )
    if exact and scenario.criterion is not None:
        passes = placed.dropna(subset=[REGION]).groupby([REGION, *scenario.quasi_identifiers])[SENSITIVE]
        judged = passes.transform(
            lambda values: _meets_criterion(values, scenario.criterion, pd.Series(dtype=float))
        )
        placed.loc[judged.index[~judged.astype(bool)], REGION] = None
    expected = placed.dropna(subset=[REGION])[list(released.columns)]
    if exact and scenario.aggregate_below:
        expected = _aggregate(scenario, expected)
    if exact:
        if _sorted_rows(expected) != _sorted_rows(released):
            yield f"{len(expected)} records should be released, {len(released)} are, or their values differ"
        return
    # With closeness, or criteria in tiers, more may be suppressed: then no record may be new, changed or repeated.
    values = [
        name
        for name in released.columns
        if name != REGION and not (scenario.aggregate_below and name == AGGREGATED)
    ]
    surplus = released.value_counts(values).sub(placed.value_counts(values), fill_value=0)
    if (surplus > 0).any():
        yield f"{int(surplus.clip(lower=0).sum())} released records are not in the input"


def _aggregate(scenario: Scenario, expected: pd.DataFrame) -> pd.DataFrame:
    """Give the records of each small class the mean of their values, cut after two decimals."""
    classes = expected.groupby([REGION, *scenario.quasi_identifiers], dropna=False)[AGGREGATED]
    sizes = classes.transform("size")
    # Whole numbers only are drawn, so that the hundredth part is exact.
    hundredths = classes.transform(lambda values: 100 * values.astype(int).sum() // len(values)).astype(
        int
    )
    means = hundredths.map(lambda value: f"{value // 100}.{value % 100:02d}".rstrip("0").rstrip("."))
    return expected.assign(
        **{AGGREGATED: expected[AGGREGATED].where(sizes >= scenario.aggregate_below, means)}
    )


def _key_errors(scenario: Scenario, result: Path, released: pd.DataFrame) -> Iterator[str]:
    """Every released row has a key of its own that leads to its record."""
    if (
        not released[RECORD_KEY].str.fullmatch("[A-Z2-7]{16}").all()
        or released[RECORD_KEY].duplicated().any()
    ):
        yield "the keys have another form, or one occurs twice"
    index = pd.read_csv(result / "internal" / "record_index.csv", dtype=str).set_index("record_key")
    if set(index.index) != set(released[RECORD_KEY]) or len(index) != len(released):
        yield "the index of keys lists other rows"
        return
    numbers = released[RECORD_KEY].map(index["record"]).astype(int) - 1
    originals = scenario.records.iloc[numbers.to_list()]
    if scenario.age_groups:
        originals = originals.assign(age=originals["age"].replace(scenario.age_groups))
    changed = {IDENTIFIER, REGION, RECORD_KEY} | ({AGGREGATED} if scenario.aggregate_below else set())
    for name in released.columns:
        if name not in changed and released[name].tolist() != originals[name].tolist():
            yield f"keys lead to records with another {name}"


def _join_places(scenario: Scenario, crosswalk: pd.DataFrame) -> pd.DataFrame:
    """Return the records of known regions as they are released, with their places of all tiers."""
    known = scenario.considered[scenario.considered[REGION] != UNKNOWN_REGION].copy()
    if scenario.age_groups:
        known["age"] = known["age"].replace(scenario.age_groups)
    return known.merge(
        crosswalk, left_on=REGION, right_on="initial_region", how="left", validate="many_to_one"
    )


def _places_in_tiers(scenario: Scenario, placed: pd.DataFrame, crosswalk: pd.DataFrame) -> pd.Series:
    """Apply the rule of the tiers to each combination of quasi-identifiers by itself."""
    levels = _place_levels(crosswalk)
    parents = [
        crosswalk.drop_duplicates(smaller).set_index(smaller)[larger]
        for smaller, larger in pairwise(levels)
    ]
    places = pd.Series(None, index=placed.index, dtype=object)
    for _, members in placed.groupby(scenario.quasi_identifiers):
        counts = members["aggregated_region"].value_counts()
        rests = counts.reindex(crosswalk["aggregated_region"].unique(), fill_value=0)
        is_released = rests >= scenario.k
        rooms = pd.Series(np.where(is_released, 0, scenario.k - 1), index=rests.index)
        _assign(places, members, levels[0], is_released)
        rests = rests.where(~is_released, 0)
        for level, parent in zip(levels[1:], parents, strict=True):
            sums = rests.groupby(parent.reindex(rests.index)).sum()
            total_room = rooms.groupby(parent.reindex(rooms.index)).sum()
            largest_room = rooms.groupby(parent.reindex(rooms.index)).max()
            is_released = (sums >= scenario.k) & (sums <= total_room - largest_room)
            rooms = total_room.where(total_room - largest_room < scenario.k, scenario.k - 1).where(
                ~is_released, 0
            )
            _assign(places, members, level, is_released)
            rests = sums.where(~is_released, 0)
    return places


def _assign(places: pd.Series, members: pd.DataFrame, level: str, is_released: pd.Series) -> None:
    """Give the members that have no place yet their place of this level, where it releases them."""
    waiting = members[places.loc[members.index].isna()]
    accepted = waiting[waiting[level].map(is_released).astype(bool)]
    places.loc[accepted.index] = accepted[level]


def _sorted_rows(table: pd.DataFrame) -> list[tuple[str, ...]]:
    return sorted(table.astype(str).itertuples(index=False, name=None))


def _table_errors(release: Path, released: pd.DataFrame, crosswalk: pd.DataFrame) -> Iterator[str]:
    """The table and the shapes of the places agree with the released file and the crosswalk."""
    table = pd.read_csv(release / "aggregated_regions.csv", dtype={"aggregated_region": str})
    table = table.set_index("aggregated_region")
    codes = set().union(*(crosswalk[level] for level in _place_levels(crosswalk)))
    if set(table.index) != codes:
        yield "the table of places has other codes than the crosswalk"
        return
    counts = released[REGION].value_counts().reindex(table.index, fill_value=0)
    if (counts != table["records"]).any():
        yield "the table of places has wrong numbers of records"
    sizes = pd.concat([crosswalk[level].value_counts() for level in _place_levels(crosswalk)])
    if (sizes.reindex(table.index) != table["initial_regions"]).any():
        yield "the table of places has wrong numbers of initial regions"
    shapes = json.loads((release / "aggregated_regions.geojson").read_text(encoding="utf-8"))
    if {feature["properties"]["aggregated_region"] for feature in shapes["features"]} != codes:
        yield "the shapes have other codes than the crosswalk"


def _figure_errors(scenario: Scenario, result: Path, released: pd.DataFrame) -> Iterator[str]:
    """The figures of the chosen solution in run.json are those of the files."""
    document = json.loads((result / "run.json").read_text(encoding="utf-8"))
    (chosen,) = [row for row in document["solutions"] if row["id"] == document["chosen_solution"]]
    if chosen["released_records"] != len(released):
        yield f"run.json says {chosen['released_records']} released records, the file has {len(released)}"
    considered = scenario.considered
    if document["problem"]["records"] != len(considered):
        yield f"run.json says {document['problem']['records']} records, {len(considered)} are considered"
    n_unknown = int((considered[REGION] == UNKNOWN_REGION).sum())
    if document["problem"]["unknown_region_records"] != n_unknown:
        yield "run.json has a wrong number of records of unknown regions"
    suppressed = chosen["measures"]["suppressed_records"]
    n_suppressed = len(considered) - len(released)
    if suppressed not in (n_suppressed, n_suppressed - n_unknown):
        yield f"run.json says {suppressed} suppressed records, {n_suppressed} are"


def _checksum_errors(release: Path) -> Iterator[str]:
    """SHA256SUMS has every file of the release, with its checksum."""
    lines = (release / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    stated = {name.lstrip("*"): digest for digest, name in (line.split(maxsplit=1) for line in lines)}
    files = {path.name: path for path in release.iterdir() if path.name != "SHA256SUMS"}
    if set(stated) != set(files):
        yield "SHA256SUMS lists other files than there are"
        return
    for name, path in files.items():
        if hashlib.sha256(path.read_bytes()).hexdigest() != stated[name]:
            yield f"the checksum of {name} is wrong"
