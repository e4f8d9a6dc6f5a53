"""Runs `vbas` and stands still at a moment that the first argument names, so that it can be killed just there.

"rows": in the middle of the released rows; "copy": in the middle of the copy for the target; "staged": with the copy
there, but not audited. Nothing is made up: what was written until then is on the disk, on the server or with Spark.

Before "releasing" and "checking" it waits for a word only, goes on, and says when Spark works on the released rows,
or on the copy for the target.
"""

from __future__ import annotations

import sys
import threading


def stand_still() -> None:
    """Say so, and wait for the end; if Java runs, tell its process, which ends by itself some time after this one."""
    spark = sys.modules.get("pyspark.core.context")
    gateway = spark.SparkContext._gateway if spark else None
    say(f"there {gateway.proc.pid if gateway else 0}")
    sys.stdin.read()


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def announced(function):
    """The same function, which waits for a word before it begins; then it is told when Spark works for it."""

    def waiting(*given, **named):
        from pyspark.core.context import SparkContext

        context = SparkContext._active_spark_context
        say(f"there {context._gateway.proc.pid} {context.applicationId}")
        sys.stdin.readline()
        threading.Thread(target=watch, args=(context,), daemon=True).start()
        return function(*given, **named)

    return waiting


def watch(context) -> None:
    """Wait until a job is running."""
    pause = threading.Event()
    while not context.statusTracker().getActiveJobsIds():
        pause.wait(0.02)
    say("working")


def prepare(moment: str) -> None:
    """Let the program stand still at the moment."""
    if moment == "rows":
        from vbas_desktop.io.records.row_order import RowBuckets

        add = RowBuckets.add

        def added(self, *given):
            add(self, *given)
            stand_still()

        RowBuckets.add = added
    elif moment == "copy":
        import pyarrow.parquet as pq

        class Slow(pq.ParquetFile):
            def iter_batches(self, *given, **named):
                for batch in super().iter_batches(*given, **named):
                    yield batch
                    stand_still()

        from vbas_desktop.app import release

        copy_release = release.copy_release

        def copy_slowly(*arguments):
            pq.ParquetFile = Slow
            return copy_release(*arguments)

        release.copy_release = copy_slowly
    elif moment == "staged":
        from vbas_desktop.audit import copies

        copies.check_copy = lambda *given: stand_still()
    if "releasing" in moment:
        from vbas_desktop.releases.database_records import DatabaseRecordWriter

        DatabaseRecordWriter._read = announced(DatabaseRecordWriter._read)
    if "checking" in moment:
        from vbas_desktop.audit import copies

        copies.check_copy = announced(copies.check_copy)


if __name__ == "__main__":
    prepare(sys.argv[1])
    from vbas_desktop.cli.main import main

    sys.exit(main(sys.argv[2:]))
