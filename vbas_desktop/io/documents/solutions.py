"""Solutions as plain JSON data and back: what projects and comparisons keep of them."""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.records import as_readonly
from vbas_desktop.model.solution import (
    RepresentabilityMeasures,
    RequirementCheck,
    Solution,
    UnrefinedPartition,
)
from vbas_desktop.model.tiers import Tiers

_TYPES: dict[str, np.dtype[Any]] = {
    "int32": np.dtype("<i4"),
    "uint64": np.dtype("<u8"),
    "float64": np.dtype("<f8"),
}

LARGEST_BYTES = 1 << 26
"""No array of numbers for each region is larger: that would be eight million regions."""


def encode_array(array: NDArray[Any] | None) -> dict[str, Any] | None:
    """Encode an array as its shape, type, and compressed bytes in base64; None stays None."""
    if array is None:
        return None
    whole = "uint64" if array.dtype == np.uint64 else "int32"
    name = whole if array.dtype.kind in "iu" else "float64"
    data = np.ascontiguousarray(array, _TYPES[name]).tobytes()
    return {
        "type": name,
        "shape": list(array.shape),
        "data": base64.b64encode(zlib.compress(data, 6)).decode("ascii"),
    }


def decode_array(packed: Mapping[str, Any] | None) -> Any:
    """Decode an array, which is read-only. Raises ValueError if the text is damaged."""
    if packed is None:
        return None
    kind = _TYPES[packed["type"]]
    wanted = math.prod(packed["shape"]) * kind.itemsize
    if wanted > LARGEST_BYTES:
        raise ValueError("oversized array")
    try:
        # A damaged or malicious file must not unpack into more memory than its shape says.
        data = zlib.decompressobj().decompress(
            base64.b64decode(packed["data"], validate=True), wanted + 1
        )
    except zlib.error as error:
        raise ValueError("damaged array") from error
    if len(data) != wanted:
        raise ValueError("damaged array")
    array = np.frombuffer(data, kind).reshape(packed["shape"])
    return as_readonly(array.astype(kind.newbyteorder("=")))


_NUMBERS = ("released_records", "anonymity", "regions_without_release")
_FACTS = {
    *(
        *_NUMBERS,
        "representability",
        "released_classes",
        "meets_requirement",
        "requirement",
        "released_by_tier",
    ),
    *("sensitive", "suppressed_sensitive"),
}


def solution_to_json(solution: Solution) -> dict[str, Any]:
    """Everything about a solution."""
    return {
        "id": solution.id,
        "approaches": dict(solution.approaches),
        "parameters": {name: dict(values) for name, values in solution.parameters.items()},
        "approximated_sites": int(solution.approximated_sites),
        "site_count": int(solution.site_count),
        "sites": encode_array(solution.sites),
        "owner": encode_array(solution.owner),
        **(
            {}
            if solution.unrefined is None
            else {
                "unrefined": {
                    name: encode_array(array) for name, array in vars(solution.unrefined).items()
                }
            }
        ),
        **(
            {}
            if solution.detoured is None
            else {"detoured": encode_array(np.flatnonzero(solution.detoured))}
        ),
        "measures": {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in solution.measures.items()
        },
        "seconds": float(solution.seconds),
        "suppressed_global": int(solution.suppressed_global),
        "suppressed_local": int(solution.suppressed_local),
        "pareto": bool(solution.pareto),
        **({} if solution.tiers is None else {"tiers": _tiers_to_json(solution)}),
        "facts": {**solution.facts(), "released_classes": solution.released_classes},
    }


def solution_from_json(data: Mapping[str, Any]) -> Solution:
    """Build a solution from its JSON data; what is missing is left at its default."""
    facts: Mapping[str, Any] = data.get("facts") or {}
    unrefined = data.get("unrefined")
    return Solution(
        id=data["id"],
        approaches=data.get("approaches", {}),
        parameters=data.get("parameters", {}),
        approximated_sites=data["approximated_sites"],
        site_count=data["site_count"],
        sites=decode_array(data.get("sites")),
        owner=decode_array(data["owner"]),
        measures=data["measures"],
        seconds=data["seconds"],
        suppressed_global=data.get("suppressed_global", 0),
        suppressed_local=data.get("suppressed_local", 0),
        pareto=data.get("pareto", False),
        **{name: facts[name] for name in _NUMBERS if name in facts},
        diagnostics={
            name: told
            for name, told in facts.items()
            if name not in _FACTS and isinstance(told, Mapping)
        },
        representability=facts.get("representability") or RepresentabilityMeasures(),
        released_classes=facts.get("released_classes", ""),
        requirement=_requirement(facts),
        sensitive=facts.get("sensitive") or {},
        suppressed_sensitive=facts.get("suppressed_sensitive", 0),
        unrefined=None
        if unrefined is None
        else UnrefinedPartition(decode_array(unrefined["owner"]), decode_array(unrefined.get("sites"))),
        detoured=_read_detours(data),
        **_tiers_from_json(data.get("tiers")),
    )


def _read_detours(data: Mapping[str, Any]) -> NDArray[np.bool_] | None:
    if data.get("detoured") is None:
        return None
    marks = np.zeros(decode_array(data["owner"]).size, np.bool_)
    which = decode_array(data["detoured"])
    if which.size and not 0 <= which.min() <= which.max() < marks.size:
        raise ValueError("damaged array")
    marks[which] = True
    return as_readonly(marks)


def _tiers_to_json(solution: Solution) -> dict[str, Any]:
    tiers = solution.tiers
    assert tiers is not None
    return {
        "parents": [encode_array(parent) for parent in tiers.parents],
        "titles": list(tiers.titles),
        "names": [None if names is None else list(names) for names in tiers.names],
        "assigned": list(tiers.assigned),
        "released_records": list(solution.released_by_tier),
    }


def _tiers_from_json(data: Mapping[str, Any] | None) -> dict[str, Any]:
    if data is None:
        return {}
    names = tuple(None if each is None else tuple(each) for each in data["names"])
    parents = tuple(decode_array(parent) for parent in data["parents"])
    tiers = Tiers(parents, tuple(data["titles"]), names, tuple(data["assigned"]))
    return {"tiers": tiers, "released_by_tier": tuple(data["released_records"])}


def _requirement(facts: Mapping[str, Any]) -> RequirementCheck | None:
    if "meets_requirement" not in facts:
        return None
    return RequirementCheck(facts["meets_requirement"], tuple(facts.get("requirement", ())))
