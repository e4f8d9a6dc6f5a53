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

from vbas_desktop.model.findings import input_error
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.text import format_count

from ..output import check_target, require_space, staged_folder, write_text
from .geography import (
    SyntheticRegions,
    build_regions,
    category_values,
    codebook_rows,
    generalise_rows,
    region_rows,
    write_table,
)
from .model import Distribution, build_distributions
from .spec import Attribute, Identifier, Spec

CHUNK_RECORDS = 131_072

MARK_FILE = "generated.json"
"""The file that marks a folder as generated: real records must never be taken for an earlier result."""
OWNED = (MARK_FILE, "records.csv", "regions.csv", "codebook.csv", "generalise.csv")


@dataclass(frozen=True)
class GeneratedFiles:
    """The files that were written, with the numbers of records and regions."""

    folder: Path
    files: tuple[str, ...]
    records: int
    regions: int


class _Plan:
    """The plan by which records become text. The threads share it, and nobody changes it."""

    def __init__(
        self,
        spec: Spec,
        regions: SyntheticRegions,
        distributions: list[Distribution],
        categories: list[tuple[str, ...]],
        as_text: bool,
        rng: np.random.Generator,
    ) -> None:
        self.distributions = distributions
        self.total = int(regions.records.sum())
        self.last_record = np.cumsum(regions.records)
        self.sizes = [len(labels) for labels in categories]
        self.codes = [
            _written_codes(attribute, labels)
            for attribute, labels in zip(spec.attributes, categories, strict=True)
        ]
        self.numbering = [
            _choose_numbering(identifier, self.total, rng) for identifier in spec.identifiers
        ]
        texts = [[identifier.pattern] for identifier in spec.identifiers]
        texts += [category_values(labels, as_text) for labels in categories]
        texts += [list(regions.ids)]
        names = spec.column_names
        self.order = (
            [names.index(name) for name in spec.columns] if spec.columns else list(range(len(names)))
        )
        ends = [b","] * (len(self.order) - 1) + [b"\n"]
        # A column is a pattern for numbers or its different fields, with the comma or line end behind each.
        self.fields: list[bytes | pa.Array] = []
        for column, end in zip(self.order, ends, strict=True):
            encoded = [_encode_field(text) + end for text in texts[column]]
            is_pattern = column < len(spec.identifiers)
            self.fields.append(encoded[0] if is_pattern else pa.array(encoded, pa.large_binary()))
        self.longest_line = sum(
            max(len(_encode_field(text)) for text in texts[column]) + 1 for column in self.order
        )
        numbers = [self.total] * len(spec.identifiers) + self.sizes + [len(regions.ids)]
        self.head = b",".join(_encode_field(names[column]) for column in self.order) + b"\n"
        if spec.category_counts:
            self.head += b",".join(str(numbers[column]).encode() for column in self.order) + b"\n"


def _written_codes(attribute: Attribute, categories: tuple[str, ...]) -> NDArray[np.int64]:
    """Return the code that is written for each category: its own, or that of its group."""
    code_of = {label: code for code, label in enumerate(categories)}
    written = attribute.labels if categories == attribute.labels else attribute.groups
    return np.array([code_of[label] for label in written], np.int64)


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
    progress: Progress = NO_PROGRESS,
) -> GeneratedFiles:
    """Write records.csv, regions.csv, codebook.csv and, if the spec has groups, generalise.csv into ``target``.

    ``inputs`` are files that were read besides the region file, which must not be in the target.
    """
    target = target.absolute()
    input_files = [path for path in (regions, spec.regions.file) if isinstance(path, Path)]
    check_target(target, OWNED, [*inputs, *input_files])
    # A line has at least two characters for each column; with the places, the need is known more precisely.
    require_space(target, 2 * len(spec.column_names) * (records or spec.records or 0))
    seed = spec.seed if seed is None else seed
    rng = np.random.default_rng(seed)
    for_places, for_model, for_numbers = rng.spawn(3)
    synthetic_regions, columns = build_regions(spec, regions, records, for_places)
    model = build_distributions(spec, synthetic_regions.points, columns, for_model)
    as_text = (labels or spec.labels) == "text"
    categories = [
        attribute.group_labels if generalised else attribute.labels for attribute in spec.attributes
    ]
    plan = _Plan(spec, synthetic_regions, model, categories, as_text, for_numbers)
    require_space(target, len(plan.head) + plan.longest_line * plan.total)
    with staged_folder(target, OWNED) as folder:
        counts = _write_records(plan, folder / "records.csv", progress)
        write_table(folder / "regions.csv", region_rows(synthetic_regions))
        write_table(folder / "codebook.csv", codebook_rows(spec, categories, as_text, counts))
        if not generalised and any(
            attribute.groups != attribute.labels for attribute in spec.attributes
        ):
            write_table(folder / "generalise.csv", generalise_rows(spec, as_text))
        files = tuple(sorted(file.name for file in folder.iterdir()))
        facts = {
            "made_by": "vbas generate",
            "records": plan.total,
            "regions": len(synthetic_regions.ids),
            "seed": seed,
        }
        write_text(folder / MARK_FILE, json.dumps(facts, indent=2) + "\n")
    return GeneratedFiles(target, files, plan.total, len(synthetic_regions.ids))


def _encode_field(text: str) -> bytes:
    quoted = text if not set(text) & set(',"\r\n') else '"' + text.replace('"', '""') + '"'
    return quoted.encode()


def _render(plan: _Plan, codes: list[NDArray[np.int64]]) -> pa.Buffer:
    """Write the rows of a chunk, given the codes of each column; Arrow joins their fields to one text."""
    columns = [
        _fill_pattern(fields, numbers)
        if isinstance(fields, bytes)
        else pc.take(fields, pa.array(numbers))
        for fields, numbers in zip(plan.fields, codes, strict=True)
    ]
    return pc.binary_join_element_wise(*columns, pa.scalar(b"", pa.large_binary())).buffers()[2]


def _fill_pattern(pattern: bytes, numbers: NDArray[np.int64]) -> pa.Array:
    """Replace the signs # of the pattern by the digits of each number, with leading zeros."""
    texts = np.tile(np.frombuffer(pattern, np.uint8), (numbers.size, 1))
    rest = numbers
    for position in reversed(np.flatnonzero(texts[0] == ord("#")).tolist()):
        rest, digit = np.divmod(rest, 10)
        texts[:, position] = digit + ord("0")
    fixed = pa.Array.from_buffers(pa.binary(len(pattern)), numbers.size, [None, pa.py_buffer(texts)])
    return fixed.cast(pa.large_binary())


def _choose_numbering(
    identifier: Identifier, total: int, rng: np.random.Generator
) -> tuple[int, int, int]:
    """Choose factor, offset and modulus of a one-to-one map from record numbers to numbers that look random."""
    modulus = 10 ** identifier.pattern.count("#")
    if modulus < total:
        raise input_error(
            "wrong-value",
            f"The pattern has numbers for {format_count(modulus, 'record')} only, but there are {total:,}.",
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
        for done, (data, part) in enumerate(_make_chunks(plan), 1):
            stream.write(data)
            for total, count in zip(counts, part, strict=True):
                total += count
            progress.update("Writing records", min(1.0, done * CHUNK_RECORDS / max(plan.total, 1)))
        stream.flush()
        os.fsync(stream.fileno())
    return counts


def _make_chunks(plan: _Plan) -> Iterator[tuple[pa.Buffer, list[NDArray[np.int64]]]]:
    """Yield the chunks in order; a few are made ahead."""
    workers = min(4, os.cpu_count() or 1)
    with ThreadPoolExecutor(workers) as threads:
        waiting: deque[Future[tuple[pa.Buffer, list[NDArray[np.int64]]]]] = deque()
        for start in range(0, plan.total, CHUNK_RECORDS):
            waiting.append(
                threads.submit(_make_chunk, plan, start, min(start + CHUNK_RECORDS, plan.total))
            )
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _make_chunk(plan: _Plan, start: int, stop: int) -> tuple[pa.Buffer, list[NDArray[np.int64]]]:
    number = np.arange(start, stop)
    region = np.searchsorted(plan.last_record, number, side="right").astype(np.int32)
    drawn: list[NDArray[np.int32]] = []
    for distribution in plan.distributions:
        drawn.append(distribution.draw(start, region, drawn))
    codes_shown = [table[codes] for table, codes in zip(plan.codes, drawn, strict=True)]
    counts = [
        np.bincount(codes, minlength=size) for codes, size in zip(codes_shown, plan.sizes, strict=True)
    ]
    unique = [_unique_numbers(number, *numbering) for numbering in plan.numbering]
    columns = [*unique, *codes_shown, region.astype(np.int64)]
    return _render(plan, [columns[column] for column in plan.order]), counts


def _unique_numbers(
    number: NDArray[np.int64], factor: int, offset: int, modulus: int
) -> NDArray[np.int64]:
    """Compute ``number · factor + offset`` modulo ``modulus`` by doubling and adding, so that 64 bits suffice."""
    result = np.full_like(number, offset)
    rest = number.copy()
    power = factor % modulus
    while rest.any():
        result = np.where(rest & 1, (result + power) % modulus, result)
        rest = rest >> 1
        power = power * 2 % modulus
    return result
