"""The PARV model: the analysis of its sample releases beside ours."""

from __future__ import annotations

from typing import Any

from .markdown import ratio, shown, table

INDICES = {
    "C3": {
        "precision": 0.8375,
        "rand": 0.8449,
        "jaccard": 0.3164,
        "fowlkes_mallows": 0.5625,
        "davies_bouldin": 3.0815,
    },
    "C4": {
        "precision": 0.7989,
        "rand": 0.9692,
        "jaccard": 0.7,
        "fowlkes_mallows": 0.8367,
        "davies_bouldin": 3.8373,
    },
    "C6": {"rand": 0.9744, "jaccard": 0.7368, "fowlkes_mallows": 0.8584},
}
"""The printed figures of chapter 6: precision and Davies–Bouldin in the text, the indices in Tables 6.8 and 6.11."""

FIGURES = ("precision", "rand", "jaccard", "fowlkes_mallows", "davies_bouldin", "hubert", "entropy_loss")

MEANS = {"1-5/Retired": (6, 40.16, 5.67), "1-5/Self": (6, 39, 3.09), "6-10/***": (3, 44, 6.55)}
"""Table 6.9: size, mean and standard deviation of the aggregated classes of C7."""

AGGREGATED = {
    "1-5/Employee": (11, 100, 90.90, 40.18),
    "1-5/House": (14, 100, 100, 38.78),
    "1-5/Retired": (6, 100, 100, 40.16),
    "1-5/Self": (6, 100, 100, 39),
    "6-10/***": (3, 66.66, 100, 44),
}
"""Table 6.10: size, percentage of Yes in PSA and Illness, mean of Value."""


def parv_tables(results: dict[str, Any]) -> dict[str, str]:
    """Return every figure that is printed of the sample data, beside ours."""
    return {
        "parv outliers": _outliers(results),
        "parv classes": _classes(results),
        "parv indices": _indices(results),
        "parv means": _means(results),
        "parv aggregated": _aggregated(results),
    }


def _outliers(results: dict[str, Any]) -> str:
    published = results["classes_published"]
    handled = results["classes_handled"]
    rows = [
        ["C.1, six quasi-identifiers, k = 3", results["outliers"]["C1"], "all 40 records are outliers"],
        [
            "C.2, household size and job, k = 3",
            results["outliers"]["C2"],
            "four classes with 5 records (Table 6.2)",
        ],
    ]
    for way, name in (("delete", "C5"), ("merge", "C6")):
        same = "the same classes and sizes" if handled[way] == published[name] else "other classes"
        rows.append([f"C.2, `--handle {way}`", same, f"table C.{name[1:]}"])
    return table(["data", "ours", "published"], rows)


def _classes(results: dict[str, Any]) -> str:
    original = results["classes_published"]["C2"]
    here = results["classes_handled"]["generalise"]
    printed = results["classes_published"]["C3"]
    names = sorted({*original, *here, *printed})
    rows = [
        [f"`{name}`", original.get(name, "–"), here.get(name, "–"), printed.get(name, "–")]
        for name in names
    ]
    return table(["class", "records in C.2", "generalised here", "C.3"], rows, numbers=3)


def _indices(results: dict[str, Any]) -> str:
    rows = []
    for name, overall in results["overall"].items():
        approaches = ", ".join(
            f"{way} ({number})" for way, number in results["approaches"][name].items()
        )
        for figure in FIGURES:
            printed = INDICES.get(name, {}).get(figure)
            cells = (shown(overall[figure]), shown(printed), ratio(overall[figure], printed))
            rows.append([f"C.{name[1:]}", approaches, figure.replace("_", " "), *cells])
    return table(["release", "recognised as", "figure", "ours", "published", "ratio"], rows, numbers=3)


def _means(results: dict[str, Any]) -> str:
    values = {_class_name(entry): entry for entry in results["sensitive_values"]["C7"]["Value"]}
    rows = []
    for name, (size, mean, deviation) in MEANS.items():
        entry = values[name]
        rows.append(
            [
                f"`{name}`",
                entry["count"],
                size,
                shown(entry["mean"], 2),
                mean,
                shown(entry["sd"], 2),
                deviation,
            ]
        )
    return table(
        ["class", "records", "published", "mean", "published", "sd", "published"], rows, numbers=6
    )


def _aggregated(results: dict[str, Any]) -> str:
    stored = results["sensitive_values"]["C3"]
    of = {
        column: {_class_name(entry): entry for entry in stored[column]}
        for column in ("Value", "Illness", "PSA")
    }
    rows = []
    for name, (size, noticed, ill, mean) in AGGREGATED.items():
        value = of["Value"][name]
        shares = [_share(of[column].get(name)) for column in ("PSA", "Illness")]
        rows.append(
            [
                f"`{name}`",
                value["count"],
                size,
                shares[0],
                noticed,
                shares[1],
                ill,
                shown(value["mean"], 2),
                mean,
            ]
        )
    heads = [
        "class",
        "records",
        "published",
        "PSA Yes (%)",
        "published",
        "Illness Yes (%)",
        "published",
        "mean",
    ]
    return table([*heads, "published"], rows, numbers=8)


def _class_name(entry: dict[str, Any]) -> str:
    return "/".join(entry["class"].values())


def _share(entry: dict[str, Any] | None) -> str:
    """Return the percentage of Yes; a dash where it is not told since it would tell of fewer than k records."""
    shares = (entry or {}).get("shares") or {}
    if isinstance(shares, list):
        shares = {one["value"]: one["share"] for one in shares}
    return shown(100 * shares["Yes"], 2) if "Yes" in shares else "–"
