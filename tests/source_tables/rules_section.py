"""The paper on rule mining: what its rule files do to the example of the program."""

from __future__ import annotations

from typing import Any

from .markdown import shown, table


def rules_tables(results: dict[str, Any]) -> dict[str, str]:
    """Return the risky combinations by size, and what each strategy leaves."""
    sizes = [str(size) for size in range(1, 10)]
    searched = []
    for name, found in results["searched"].items():
        counts = [found["by_size"].get(size, 0) for size in sizes]
        searched.append([name, found["number"], found["exempted"], *counts])
    applied = []
    for name, done in results["applied"].items():
        kept = f"{shown(done['columns_kept_percent'], 0)} %"
        applied.append([name, done["steps"], done["columns_emptied"], kept, done["anonymity"]])
    applied.append(["*published case study (other records)*", 3, 4, "60 %", "3 or more"])
    heads = ["rules, strategy", "iterations", "columns emptied", "columns kept", "k reached"]
    return {
        "rules searched": table(["rules", "all", "exempted", *sizes], searched, numbers=11),
        "rules applied": table(heads, applied, numbers=4),
    }
