"""Synthetic records and regions with known counts: the same spec and seed always give the same bytes."""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from math import gcd
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.ahead import make_ready
from vbas_desktop.domain.errors import refusal
from vbas_desktop.domain.progress import Progress, Silent
from vbas_desktop.domain.words import counted
from vbas_desktop.files.folders import filled_folder

from .geography import (
    Places,
    codebook_rows,
    generalise_rows,
    make_places,
    region_rows,
    shown_labels,
    values_of,
    write_table,
)
from .model import Distribution, distributions, render
from .spec import Identifier, Spec, load_spec

CHUNK_RECORDS = 131_072

REHEARSAL = f"{__name__}:rehearse"
"""What makes the loops of generating ready."""


@dataclass(frozen=True)
class Generated:
    """What was written."""

    folder: Path
    files: tuple[str, ...]
    records: int
    regions: int


@dataclass(frozen=True, eq=False)
class _Plan:
    """Everything the threads need; nobody changes it."""

    spec: Spec
    places: Places
    distributions: list[Distribution]
    groups: list[NDArray[np.int64]] | None
    order: list[int]
    first_field: NDArray[np.int64]
    begins: NDArray[np.int64]
    pool: NDArray[np.uint8]
    longest_line: int
    numbering: list[tuple[int, int, int]]
    last_record: NDArray[np.int64]


def generate(
    spec: Spec,
    target: Path,
    *,
    records: int | None = None,
    regions: int | Path | None = None,
    seed: int | None = None,
    generalised: bool = False,
    labels: str | None = None,
    progress: Progress = Silent(),  # noqa: B008
) -> Generated:
    """Write records.csv, regions.csv, codebook.csv and, if the spec has groups, generalise.csv into ``target``."""
    target = target.absolute()
    make_ready(REHEARSAL, progress)
    rng = np.random.default_rng(spec.seed if seed is None else seed)
    for_places, for_model, for_numbers = rng.spawn(3)
    places, columns = make_places(spec, regions, records, for_places)
    model = distributions(spec, places.points, columns, for_model)
    as_text = (labels or spec.labels) == "text"
    plan = _plan(spec, places, model, generalised, as_text, for_numbers)
    with filled_folder(target) as work:
        counts = _write_records(plan, work / "records.csv", progress)
        write_table(work / "regions.csv", region_rows(places))
        write_table(work / "codebook.csv", codebook_rows(spec, generalised, as_text, counts))
        if not generalised and any(attribute.groups != attribute.labels for attribute in spec.attributes):
            write_table(work / "generalise.csv", generalise_rows(spec, as_text))
        files = tuple(sorted(file.name for file in work.iterdir()))
    return Generated(target, files, int(places.records.sum()), len(places.ids))


def rehearse() -> None:
    """Generate a few records into a folder that goes away."""
    spec = load_spec("pei")
    with tempfile.TemporaryDirectory() as folder:
        generate(spec, Path(folder) / "made", records=200, regions=20)


def _plan(
    spec: Spec,
    places: Places,
    model: list[Distribution],
    generalised: bool,
    as_text: bool,
    rng: np.random.Generator,
) -> _Plan:
    total = int(places.records.sum())
    texts = [[identifier.pattern] for identifier in spec.identifiers]
    texts += [values_of(shown_labels(attribute, generalised), as_text) for attribute in spec.attributes]
    texts += [list(places.ids)]
    names = spec.column_names
    order = [names.index(name) for name in spec.columns] if spec.columns else list(range(len(names)))
    first_field, begins, pool = _pool(texts, order, len(spec.identifiers))
    longest = sum(max(len(_field(text)) for text in texts[place]) + 1 for place in order)
    groups = [_group_codes(attribute.labels, attribute.groups) for attribute in spec.attributes]
    return _Plan(
        spec=spec,
        places=places,
        distributions=model,
        groups=groups if generalised else None,
        order=order,
        first_field=first_field,
        begins=begins,
        pool=pool,
        longest_line=longest,
        numbering=[_numbering(identifier, total, rng) for identifier in spec.identifiers],
        last_record=np.cumsum(places.records),
    )


def _group_codes(labels: tuple[str, ...], groups: tuple[str, ...]) -> NDArray[np.int64]:
    order = {group: code for code, group in enumerate(dict.fromkeys(groups))}
    return np.array([order[group] for group in groups], np.int64)


def _field(text: str) -> bytes:
    quoted = text if not set(text) & set(',"\r\n') else '"' + text.replace('"', '""') + '"'
    return quoted.encode()


def _pool(
    texts: list[list[str]], order: list[int], identifiers: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
    """All fields one after the other, each with the comma or line end behind it, and where each column's begin."""
    pieces: list[bytes] = []
    first_field = []
    for column in order:
        end = b"\n" if column == order[-1] else b","
        first_field.append(-1 - len(pieces) if column < identifiers else len(pieces))
        pieces += [_field(text) + end for text in texts[column]]
    begins = np.concatenate(([0], np.cumsum([len(piece) for piece in pieces]))).astype(np.int64)
    return np.array(first_field, np.int64), begins, np.frombuffer(b"".join(pieces), np.uint8)


def _numbering(identifier: Identifier, total: int, rng: np.random.Generator) -> tuple[int, int, int]:
    """Factor, offset and modulus of a one-to-one map from record numbers to numbers that look random."""
    modulus = 10 ** identifier.pattern.count("#")
    if modulus < total:
        raise refusal(
            "wrong-value",
            f"The pattern has numbers for {counted(modulus, 'record')} only, but there are {total:,}.",
            "Add signs #.",
            column=identifier.name,
        )
    factor = int(rng.integers(modulus // 3, modulus, endpoint=True)) if modulus > 10 else 3
    while gcd(factor, modulus) != 1:
        factor += 1
    return factor, int(rng.integers(modulus)), modulus


def _write_records(plan: _Plan, path: Path, progress: Progress) -> list[NDArray[np.int64]]:
    """Write all records and return how many have each category, attribute by attribute."""
    total = int(plan.places.records.sum())
    shown = plan.groups is not None
    sizes = [len(shown_labels(attribute, shown)) for attribute in plan.spec.attributes]
    counts = [np.zeros(size, np.int64) for size in sizes]
    with path.open("wb") as stream:
        stream.write(_head(plan, sizes, total))
        for done, (data, part) in enumerate(_chunks(plan, total), 1):
            stream.write(data)
            for whole, some in zip(counts, part, strict=True):
                whole += some
            progress.update("Writing records", min(1.0, done * CHUNK_RECORDS / max(total, 1)))
        stream.flush()
        os.fsync(stream.fileno())
    return counts


def _head(plan: _Plan, sizes: list[int], total: int) -> bytes:
    names = plan.spec.column_names
    numbers = [total] * len(plan.spec.identifiers) + sizes + [len(plan.places.ids)]
    lines = [b",".join(_field(names[place]) for place in plan.order)]
    if plan.spec.category_counts:
        lines.append(b",".join(str(numbers[place]).encode() for place in plan.order))
    return b"".join(line + b"\n" for line in lines)


def _chunks(plan: _Plan, total: int) -> Iterator[tuple[memoryview, list[NDArray[np.int64]]]]:
    """The chunks in order, a few of them in the making at any time."""
    workers = min(4, os.cpu_count() or 1)
    with ThreadPoolExecutor(workers) as threads:
        waiting: deque[Future[tuple[memoryview, list[NDArray[np.int64]]]]] = deque()
        for start in range(0, total, CHUNK_RECORDS):
            waiting.append(threads.submit(_chunk, plan, start, min(start + CHUNK_RECORDS, total)))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _chunk(plan: _Plan, start: int, stop: int) -> tuple[memoryview, list[NDArray[np.int64]]]:
    number = np.arange(start, stop)
    region = np.searchsorted(plan.last_record, number, side="right").astype(np.int32)
    drawn: list[NDArray[np.int32]] = []
    for distribution in plan.distributions:
        drawn.append(distribution.draw(start, region, drawn))
    shown: list[NDArray[np.int64]] = [codes.astype(np.int64) for codes in drawn]
    if plan.groups is not None:
        shown = [group[codes] for group, codes in zip(plan.groups, shown, strict=True)]
        sizes = [int(group.max()) + 1 for group in plan.groups]
    else:
        sizes = [len(attribute.labels) for attribute in plan.spec.attributes]
    counts = [np.bincount(codes, minlength=size) for codes, size in zip(shown, sizes, strict=True)]
    unique = [_unique_numbers(number, *numbering) for numbering in plan.numbering]
    columns = [*unique, *shown, region.astype(np.int64)]
    codes = np.vstack([columns[place] for place in plan.order])
    out = np.empty((stop - start) * plan.longest_line, np.uint8)
    size = render(codes, plan.first_field, plan.begins, plan.pool, out)
    return out[:size].data, counts


def _unique_numbers(number: NDArray[np.int64], factor: int, offset: int, modulus: int) -> NDArray[np.int64]:
    """``number · factor + offset`` modulo ``modulus``, by doubling and adding, so that nothing overflows 64 bits."""
    result = np.full_like(number, offset)
    rest, power = number.copy(), factor % modulus
    while rest.any():
        result = np.where(rest & 1, (result + power) % modulus, result)
        rest, power = rest >> 1, power * 2 % modulus
    return result
