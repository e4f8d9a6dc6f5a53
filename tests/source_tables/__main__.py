"""Compute the tables of the sources and write their page: ``python -m tests.source_tables FOLDER``, or `make tables`.

The results are stored in ``FOLDER/tables``, the page is ``FOLDER/sources-of-the-methods.md``. Names of parts (eastern,
western, pei, parv, rules, screening) restrict the computation to them; ``--page`` only writes the page from what is
stored, and ``--check`` ends with 1 if the page is not the one that the stored results give.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .compute import PARTS, compute_part
from .page import PAGE, sources_page


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (default: all)")
    parser.add_argument("--page", action="store_true", help="compute nothing")
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(argv)
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"unknown parts: {', '.join(unknown)}")
    results = options.folder / "tables"
    page = options.folder / PAGE
    if options.check:
        if page.is_file() and page.read_text(encoding="utf-8") == sources_page(results):
            return 0
        sys.stderr.write(f"Out of step with {results}, run `make tables-page`: {page}\n")
        return 1
    if not options.page:
        results.mkdir(parents=True, exist_ok=True)
        for part in options.parts or PARTS:
            sys.stderr.write(f"Computing {part}\n")
            compute_part(part, results)
    page.write_text(sources_page(results), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
