"""One release that was handed over, as the ledger keeps it: numbers, and keyed hashes in place of values."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property, lru_cache
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import ConfigDict, PlainSerializer, PlainValidator, model_validator
from pydantic.dataclasses import dataclass

from vbas_desktop.io.documents.solutions import decode_array, encode_array
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.criteria import SensitiveColumn, parse_criterion
from vbas_desktop.model.records import as_readonly
from vbas_desktop.model.text import MISSING
from vbas_desktop.model.tiers import Tiers
from vbas_desktop.model.value_notation import plain_value, possible_values

from .audiences import PUBLIC, same_audience

Hashes = NDArray[np.uint64]
Ints = NDArray[np.int64]
STORED = ConfigDict(strict=True, extra="forbid", arbitrary_types_allowed=True)
"""How everything that the ledger file holds is checked, both when it is made and when the file is read."""


def hash_texts(key: bytes, kind: str, texts: Iterable[str]) -> Hashes:
    """Hash each text to 64 bits; another ``kind`` (a column, say) or another key gives unrelated hashes."""
    prefix = hashlib.blake2b(kind.encode() + b"\0", digest_size=8, key=key)
    hashes = []
    for text in texts:
        digest = prefix.copy()
        digest.update(text.encode("utf-8", "surrogateescape"))
        hashes.append(int.from_bytes(digest.digest(), "little"))
    return np.array(hashes, np.uint64)


def hash_regions(key: bytes, ids: Iterable[str]) -> Hashes:
    """Hash the ids of initial regions."""
    return _hash_region_ids(key, tuple(ids))


@lru_cache(maxsize=4)
def _hash_region_ids(key: bytes, ids: tuple[str, ...]) -> Hashes:
    """Hash ids of regions; cached, because one check hashes the same ids several times."""
    return as_readonly(hash_texts(key, "region", ids))


def hash_values(key: bytes, column: str, values: Iterable[str]) -> Hashes:
    """Hash the values of one column. The hash of a combination is the sum of these, whatever their order."""
    return hash_texts(key, f"column {column}", values)


def hash_combinations(counts: ClassCounts, value_hashes: Mapping[int, Hashes]) -> Hashes:
    """Hash each combination of ``counts`` by some quasi-identifiers, given the hashes of their categories."""
    total = np.zeros(counts.n_combinations, np.uint64)
    for number, hashes in value_hashes.items():
        total += hashes[counts.decode_column(number)]
    return total


def make_class_keys(regions: NDArray[np.integer], combinations: Hashes) -> Hashes:
    """Make one key for each class from its released region and the hash of its combination."""
    # An odd factor spreads the regions over all 64 bits, independently of the hashes.
    return regions.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) ^ combinations


def look_up(keys: Hashes, values: NDArray[Any], wanted: Hashes, default: NDArray[Any]) -> NDArray[Any]:
    """Return the value of each wanted key, or its default if it is not among the different ``keys``."""
    index = pd.Index(keys).get_indexer(wanted)
    is_known = index >= 0
    result = default.copy()
    result[is_known] = values[index[is_known]]
    return result


def _stored_array(
    dtype: type[np.generic], dimensions: int = 1
) -> tuple[PlainValidator, PlainSerializer]:
    """Say how an array is read from JSON, checked and written."""
    return PlainValidator(_check_array(dtype, dimensions)), PlainSerializer(encode_array)


def _check_array(dtype: type[np.generic], dimensions: int) -> Callable[[Any], NDArray[Any]]:
    """Make a validator that decodes an array from JSON if need be, and checks its type, dimensions and range."""

    def read(value: Any) -> NDArray[Any]:
        array = value if isinstance(value, np.ndarray) else decode_array(value)
        if array.dtype != dtype or array.ndim != dimensions:
            raise ValueError("an array of the wrong type or shape")
        if dtype == np.int32 and array.min(initial=0) < 0:
            raise ValueError("numbers out of range")
        return array

    return read


HashArray = Annotated[Hashes, *_stored_array(np.uint64)]
HashPairs = Annotated[Hashes, *_stored_array(np.uint64, 2)]
NumberArray = Annotated[NDArray[np.int32], *_stored_array(np.int32)]


def _check_lengths(*arrays: NDArray[Any]) -> None:
    if len({array.size for array in arrays}) > 1:
        raise ValueError("arrays of different lengths")


def _check_unique(keys: Hashes) -> None:
    """Raise ValueError if a key occurs twice: looking it up would be ambiguous."""
    if pd.unique(keys).size < keys.size:
        raise ValueError("the same number twice")


@dataclass(frozen=True, eq=False, config=STORED)
class ReleasedClasses:
    """The released equivalence classes.

    regions: number of the released region of each class.
    combinations: hash of its combination of released quasi-identifiers.
    sizes: number of its records.
    """

    regions: NumberArray
    combinations: HashArray
    sizes: NumberArray

    @model_validator(mode="after")
    def _check(self) -> ReleasedClasses:
        _check_lengths(self.regions, self.combinations, self.sizes)
        _check_unique(self.keys)
        return self

    def __len__(self) -> int:
        return int(self.regions.size)

    @classmethod
    def empty(cls) -> ReleasedClasses:
        """Make a release without any class."""
        return cls(np.zeros(0, np.int32), np.zeros(0, np.uint64), np.zeros(0, np.int32))

    @property
    def keys(self) -> Hashes:
        """The key of each class (`make_class_keys`)."""
        return make_class_keys(self.regions, self.combinations)

    @cached_property
    def _index(self) -> pd.Index:
        return pd.Index(self.keys)

    def find(self, keys: Hashes) -> Ints:
        """Find the number of the class with each key; −1: no such class."""
        return np.asarray(self._index.get_indexer(keys), np.int64)


@dataclass(frozen=True, eq=False, config=STORED)
class RowColumn:
    """A released column: the hashes of its values, and for each row the number of its value among these."""

    values: HashArray
    codes: NumberArray

    @model_validator(mode="after")
    def _check(self) -> RowColumn:
        if self.codes.max(initial=-1) >= self.values.size:
            raise ValueError("numbers out of range")
        return self


@dataclass(frozen=True, eq=False, config=STORED)
class ReleasedRows:
    """The different rows of a release: number of the class of each, how often it occurs, and its other values.

    ``columns`` has the released columns that are neither region nor quasi-identifier, as far as they are categorical.
    """

    classes: NumberArray
    counts: NumberArray
    columns: Mapping[str, RowColumn] = field(default_factory=dict)

    @model_validator(mode="after")
    def _check(self) -> ReleasedRows:
        _check_lengths(self.classes, self.counts, *(column.codes for column in self.columns.values()))
        return self

    def hash_rows(self, columns: Iterable[str]) -> Hashes:
        """Hash the values of each row in these columns."""
        total = np.zeros(self.classes.size, np.uint64)
        for name in columns:
            column = self.columns[name]
            total += column.values[column.codes]
        return total


@dataclass(frozen=True, eq=False, config=STORED)
class RecordedCriteria:
    """A sensitive column with the criteria that every released class met.

    benign: hashes of the benign values as they were named.
    plain_benign: hashes of the same values in plain notation (`plain_value`).
    """

    column: str
    criteria: tuple[str, ...]
    benign: HashArray
    plain_benign: HashArray

    @model_validator(mode="after")
    def _check(self) -> RecordedCriteria:
        for text in self.criteria:
            parse_criterion(text)
        return self

    @classmethod
    def from_columns(
        cls, key: bytes, sensitive: Iterable[SensitiveColumn]
    ) -> tuple[RecordedCriteria, ...]:
        """Record the sensitive columns that had criteria."""
        return tuple(
            cls(
                column.column,
                tuple(criterion.text for criterion in column.criteria),
                hash_values(key, column.column, column.benign),
                hash_values(key, column.column, map(plain_value, column.benign)),
            )
            for column in sensitive
            if column.criteria
        )

    def restore(self, key: bytes, values: Sequence[str]) -> SensitiveColumn:
        """Restore the criteria, with the benign ones among these values of the column."""
        texts = list(
            dict.fromkeys([*(form for value in values for form in possible_values(value)), MISSING])
        )
        is_benign = np.isin(hash_values(key, self.column, texts), self.benign)
        benign = tuple(text for text, benign in zip(texts, is_benign, strict=True) if benign)
        criteria = tuple(parse_criterion(text).of(self.column) for text in self.criteria)
        return SensitiveColumn(self.column, benign, criteria)


@dataclass(frozen=True, eq=False, config=STORED)
class LedgerEntry:
    """A release: who has it, what it was made from, its regions and classes.

    source_sha256, released_sha256: of the record file and of the released records.
    columns: the released columns, by their names in the record file.
    regions: hash of each initial region.
    membership: number of the aggregated region of each initial region.
    rows: None if they are not counted, or are too many to keep.
    parents: in tiers, ``parents[t]`` is the region of tier t + 1 that each region of tier t lies in (tier 0: the
        aggregated regions). `ReleasedClasses` numbers the regions of all tiers one tier after the other.
    groups: by recoded column, pairs of the hash of a value and that of its group.
    override: why it was handed over although the ledger advised against it.
    criteria: criteria for sensitive values that its classes met.
    source_rows_hash, released_rows_hash: of the rows in any order; empty for records on a server.
    compared_k: the k demanded in place of the largest one in the comparison with earlier releases; k_reason: why.
    aggregated_columns: columns that have one value per class.
    """

    id: int
    audience: str
    date: str
    source_sha256: str
    released_sha256: str
    region_column: str
    quasi_identifiers: tuple[str, ...]
    k: int
    columns: tuple[str, ...]
    regions: HashArray
    membership: NumberArray
    classes: ReleasedClasses
    rows: ReleasedRows | None = None
    parents: tuple[NumberArray, ...] = ()
    groups: Mapping[str, HashPairs] = field(default_factory=dict)
    folder: str = ""
    note: str = ""
    override: str = ""
    criteria: tuple[RecordedCriteria, ...] = ()
    source_rows_hash: str = ""
    released_rows_hash: str = ""
    compared_k: int | None = None
    k_reason: str = ""
    aggregated_columns: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> LedgerEntry:
        _check_lengths(self.regions, self.membership)
        _check_unique(self.regions)
        for pairs in self.groups.values():
            if pairs.shape[1] != 2:
                raise ValueError("an array of the wrong shape")
            _check_unique(pairs[:, 0])
        if self.rows is not None and self.rows.classes.max(initial=-1) >= len(self.classes):
            raise ValueError("numbers out of range")
        regions_by_tier = [numbers.max(initial=-1) + 1 for numbers in (self.membership, *self.parents)]
        if regions_by_tier != list(self.regions_by_tier):
            raise ValueError("regions that lie in no region of the next tier")
        if self.classes.regions.max(initial=-1) >= sum(self.regions_by_tier):
            raise ValueError("numbers out of range")
        return self

    @property
    def released_quasi_identifiers(self) -> tuple[str, ...]:
        """The quasi-identifiers among the released columns: ``classes`` are distinguished by these."""
        return tuple(name for name in self.quasi_identifiers if name in self.columns)

    @property
    def releases_all_quasi_identifiers(self) -> bool:
        """True if no quasi-identifier was left out of the released columns."""
        return set(self.quasi_identifiers) <= set(self.columns)

    @property
    def other_columns(self) -> tuple[str, ...]:
        """The released columns that are neither region nor quasi-identifier."""
        used = {self.region_column, *self.quasi_identifiers}
        return tuple(name for name in self.columns if name not in used)

    @property
    def title(self) -> str:
        """Name of the release in messages."""
        receiver = f"handed to {self.audience}" if self.audience else "handed over"
        return f"release {self.id} ({receiver} on {self.date})"

    @property
    def comment(self) -> str:
        """Why it was handed over against the ledger, or compared with another k; otherwise the note."""
        reasons = [f"despite the ledger: {self.override}"] if self.override else []
        if self.compared_k is not None:
            reasons.append(f"compared with k = {self.compared_k:,}: {self.k_reason}")
        return "; ".join(reasons) or self.note

    @property
    def records(self) -> int:
        """Number of released records."""
        return int(self.classes.sizes.sum())

    @property
    def aggregated_regions(self) -> int:
        """Number of aggregated regions."""
        return int(self.membership.max(initial=-1)) + 1

    @property
    def regions_by_tier(self) -> tuple[int, ...]:
        """Number of regions of each tier; without tiers, the number of aggregated regions alone."""
        return (
            (*(parent.size for parent in self.parents), 1)
            if self.parents
            else (self.aggregated_regions,)
        )

    @property
    def tiers(self) -> Tiers:
        """The tiers of the release; their regions have no names here."""
        n_tiers = len(self.regions_by_tier)
        return Tiers(self.parents, ("",) * n_tiers, (None,) * n_tiers)

    @cached_property
    def parent_region(self) -> Ints:
        """The region of the next tier that each released region lies in, all tiers in one numbering; −1: none."""
        starts = np.cumsum(self.regions_by_tier)
        numbers = [parent + start for parent, start in zip(self.parents, starts, strict=False)]
        return np.concatenate([*numbers, np.full(self.regions_by_tier[-1], -1)]).astype(np.int64)

    def describe_regions(self) -> str:
        """Say how many aggregated regions the release has, and how many fallback areas."""
        text = f"{self.aggregated_regions:,}"
        return f"{text}, and {sum(self.regions_by_tier[1:]):,} larger" if self.parents else text

    def find_aggregated_regions(self, regions: Hashes) -> NDArray[np.int32]:
        """Find the aggregated region of each of these initial regions (hashes); −1: the release does not have it."""
        unknown = np.full(regions.size, -1, np.int32)
        return look_up(self.regions, self.membership, regions, unknown)

    def recode(self, column: str, values: Hashes) -> Hashes:
        """Replace the values of a column (hashes) by their groups in this release."""
        pairs = self.groups.get(column)
        return values if pairs is None else look_up(pairs[:, 0], pairs[:, 1], values, values)

    def has_same_combinations(self, other: LedgerEntry) -> bool:
        """Return True if both releases have the same quasi-identifiers, recoded alike."""
        same_columns = set(self.quasi_identifiers) == set(other.quasi_identifiers)
        return same_columns and self._recodings == other._recodings

    @cached_property
    def _recodings(self) -> dict[str, set[tuple[int, int]]]:
        """By column, the values that have another group than themselves, with these groups."""
        changed = {
            name: {(value, group) for value, group in pairs.tolist() if value != group}
            for name, pairs in self.groups.items()
        }
        return {name: pairs for name, pairs in changed.items() if pairs}

    def has_same_records(self, other: LedgerEntry) -> bool:
        """Return True if both releases were made from the same records, in whatever order."""
        if self.source_rows_hash and other.source_rows_hash:
            return self.source_rows_hash == other.source_rows_hash
        return self.source_sha256 == other.source_sha256

    def is_derived_from(self, other: LedgerEntry) -> bool:
        """Return True if this release was made from the released records of the other one."""
        if self.source_rows_hash and other.released_rows_hash:
            return self.source_rows_hash == other.released_rows_hash
        return self.source_sha256 == other.released_sha256

    def is_available_to(self, audience: str) -> bool:
        """Return True if this audience has the release, or may come to have it: without a name, anybody may."""
        names = (self.audience, audience)
        if any(not name.strip() or same_audience(name, PUBLIC) for name in names):
            return True
        return same_audience(*names)
