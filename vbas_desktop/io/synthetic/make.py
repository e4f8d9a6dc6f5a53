"""Synthetic records and regions with known counts: the same spec and seed always give the same bytes."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from math import gcd
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from vbas_desktop.io.output import check_target, require_space, staged_folder, write_text
from vbas_desktop.model.errors import refusal
from vbas_desktop.model.progress import Progress, Silent
from vbas_desktop.model.words import counted

from .geography import (
    Places,
    codebook_rows,
    generalise_rows,
    make_places,
    region_rows,
    values_of,
    write_table,
)
from .model import Distribution, distributions
from .spec import Attribute, Identifier, Spec

CHUNK_RECORDS = 131_072

MARK_FILE = "generated.json"
"""The file by which a folder is known as generated: real records must never be taken for an earlier result."""
OWNED = (MARK_FILE, "records.csv", "regions.csv", "codebook.csv", "generalise.csv")


@dataclass(frozen=True)
class Generated:
    """What was written."""

    folder: Path
    files: tuple[str, ...]
    records: int
    regions: int


class _Plan:
    """How records become text. The threads share it, and nobody changes it."""

    def __init__(
        self,
        spec: Spec,
        places: Places,
        model: list[Distribution],
        shown: list[tuple[str, ...]],
        as_text: bool,
        rng: np.random.Generator,
    ) -> None:
        self.distributions, self.total = model, int(places.records.sum())
        self.last_record = np.cumsum(places.records)
        self.sizes = [len(labels) for labels in shown]
        self.codes = [_shown_codes(attribute, labels) for attribute, labels in zip(spec.attributes, shown, strict=True)]
        self.numbering = [_numbering(identifier, self.total, rng) for identifier in spec.identifiers]
        texts = [[identifier.pattern] for identifier in spec.identifiers]
        texts += [values_of(labels, as_text) for labels in shown]
        texts += [list(places.ids)]
        names = spec.column_names
        self.order = [names.index(name) for name in spec.columns] if spec.columns else list(range(len(names)))
        ends = [b","] * (len(self.order) - 1) + [b"\n"]
        # A column is a pattern for numbers or its different fields, with the comma or line end behind each.
        self.fields: list[bytes | pa.Array] = []
        for column, end in zip(self.order, ends, strict=True):
            encoded = [_field(text) + end for text in texts[column]]
            is_pattern = column < len(spec.identifiers)
            self.fields.append(encoded[0] if is_pattern else pa.array(encoded, pa.large_binary()))
        self.longest_line = sum(max(len(_field(text)) for text in texts[place]) + 1 for place in self.order)
        numbers = [self.total] * len(spec.identifiers) + self.sizes + [len(places.ids)]
        self.head = b",".join(_field(names[place]) for place in self.order) + b"\n"
        if spec.category_counts:
            self.head += b",".join(str(numbers[place]).encode() for place in self.order) + b"\n"


def _shown_codes(attribute: Attribute, shown: tuple[str, ...]) -> NDArray[np.int64]:
    """The number of what is shown for each category: itself, or its group."""
    place = {label: code for code, label in enumerate(shown)}
    written = attribute.labels if shown == attribute.labels else attribute.groups
    return np.array([place[label] for label in written], np.int64)


def generate(
    spec: Spec,
    target: Path,
    *,
    records: int | None = None,
    regions: int | Path | None = None,
    seed: int | None = None,
    generalised: bool = False,
    labels: str | None = None,
    inputs: Iterable[Path] = (),
    progress: Progress = Silent(),  # noqa: B008
) -> Generated:
    """Write records.csv, regions.csv, codebook.csv and, if the spec has groups, generalise.csv into ``target``.

    ``inputs`` are files that were read besides the region file, which must not be in the target.
    """
    target = target.absolute()
    read = [path for path in (regions, spec.regions.file) if isinstance(path, Path)]
    check_target(target, OWNED, [*inputs, *read])
    # A line has at least two characters for each column; with the places, the need is known more precisely.
    require_space(target, 2 * len(spec.column_names) * (records or spec.records or 0))
    seed = spec.seed if seed is None else seed
    rng = np.random.default_rng(seed)
    for_places, for_model, for_numbers = rng.spawn(3)
    places, columns = make_places(spec, regions, records, for_places)
    model = distributions(spec, places.points, columns, for_model)
    as_text = (labels or spec.labels) == "text"
    shown = [attribute.group_labels if generalised else attribute.labels for attribute in spec.attributes]
    plan = _Plan(spec, places, model, shown, as_text, for_numbers)
    require_space(target, len(plan.head) + plan.longest_line * plan.total)
    with staged_folder(target, OWNED) as work:
        counts = _write_records(plan, work / "records.csv", progress)
        write_table(work / "regions.csv", region_rows(places))
        write_table(work / "codebook.csv", codebook_rows(spec, shown, as_text, counts))
        if not generalised and any(attribute.groups != attribute.labels for attribute in spec.attributes):
            write_table(work / "generalise.csv", generalise_rows(spec, as_text))
        files = tuple(sorted(file.name for file in work.iterdir()))
        facts = {"made_by": "vbas generate", "records": plan.total, "regions": len(places.ids), "seed": seed}
        write_text(work / MARK_FILE, json.dumps(facts, indent=2) + "\n")
    return Generated(target, files, plan.total, len(places.ids))


def _field(text: str) -> bytes:
    quoted = text if not set(text) & set(',"\r\n') else '"' + text.replace('"', '""') + '"'
    return quoted.encode()


def _render(plan: _Plan, codes: list[NDArray[np.int64]]) -> pa.Buffer:
    """Write the rows of a chunk, given the codes of each column; Arrow joins their fields to one text."""
    columns = [
        _fill_pattern(fields, numbers) if isinstance(fields, bytes) else pc.take(fields, pa.array(numbers))
        for fields, numbers in zip(plan.fields, codes, strict=True)
    ]
    return pc.binary_join_element_wise(*columns, pa.scalar(b"", pa.large_binary())).buffers()[2]


def _fill_pattern(pattern: bytes, numbers: NDArray[np.int64]) -> pa.Array:
    """Replace the signs # of the pattern by the digits of each number, with leading zeros."""
    texts = np.tile(np.frombuffer(pattern, np.uint8), (numbers.size, 1))
    rest = numbers
    for place in reversed(np.flatnonzero(texts[0] == ord("#")).tolist()):
        rest, digit = np.divmod(rest, 10)
        texts[:, place] = digit + ord("0")
    fixed = pa.Array.from_buffers(pa.binary(len(pattern)), numbers.size, [None, pa.py_buffer(texts)])
    return fixed.cast(pa.large_binary())


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
    counts = [np.zeros(size, np.int64) for size in plan.sizes]
    with path.open("wb") as stream:
        stream.write(plan.head)
        for done, (data, part) in enumerate(_chunks(plan), 1):
            stream.write(data)
            for whole, some in zip(counts, part, strict=True):
                whole += some
            progress.update("Writing records", min(1.0, done * CHUNK_RECORDS / max(plan.total, 1)))
        stream.flush()
        os.fsync(stream.fileno())
    return counts


def _chunks(plan: _Plan) -> Iterator[tuple[pa.Buffer, list[NDArray[np.int64]]]]:
    """The chunks in order, a few of them in the making at any time."""
    workers = min(4, os.cpu_count() or 1)
    with ThreadPoolExecutor(workers) as threads:
        waiting: deque[Future[tuple[pa.Buffer, list[NDArray[np.int64]]]]] = deque()
        for start in range(0, plan.total, CHUNK_RECORDS):
            waiting.append(threads.submit(_chunk, plan, start, min(start + CHUNK_RECORDS, plan.total)))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _chunk(plan: _Plan, start: int, stop: int) -> tuple[pa.Buffer, list[NDArray[np.int64]]]:
    number = np.arange(start, stop)
    region = np.searchsorted(plan.last_record, number, side="right").astype(np.int32)
    drawn: list[NDArray[np.int32]] = []
    for distribution in plan.distributions:
        drawn.append(distribution.draw(start, region, drawn))
    shown = [table[codes] for table, codes in zip(plan.codes, drawn, strict=True)]
    counts = [np.bincount(codes, minlength=size) for codes, size in zip(shown, plan.sizes, strict=True)]
    unique = [_unique_numbers(number, *numbering) for numbering in plan.numbering]
    columns = [*unique, *shown, region.astype(np.int64)]
    return _render(plan, [columns[place] for place in plan.order]), counts


def _unique_numbers(number: NDArray[np.int64], factor: int, offset: int, modulus: int) -> NDArray[np.int64]:
    """``number · factor + offset`` modulo ``modulus``, by doubling and adding, so that nothing overflows 64 bits."""
    result = np.full_like(number, offset)
    rest, power = number.copy(), factor % modulus
    while rest.any():
        result = np.where(rest & 1, (result + power) % modulus, result)
        rest, power = rest >> 1, power * 2 % modulus
    return result
