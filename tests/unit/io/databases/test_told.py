"""What servers say of their troubles is told in the program's own words, which quote nothing."""

from __future__ import annotations

import pytest

from vbas_desktop.io.databases.address import parse_address
from vbas_desktop.io.databases.spark_engine import describe_spark_error

SECRET = "value ‘4711’ of a record"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[TABLE_OR_VIEW_NOT_FOUND] The table or view cannot be found", "no-such-table"),
        ("[SCHEMA_NOT_FOUND] The schema cannot be found", "no-such-table"),
        ("[PATH_NOT_FOUND] Path does not exist", "no-such-file"),
        ("[UNABLE_TO_INFER_SCHEMA] Unable to infer schema for Parquet", "no-such-file"),
        ("[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column cannot be resolved", "no-such-column"),
        ("[DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES] Cannot resolve", "no-fit"),
        ("java.io.FileNotFoundException: /data/a.parquet (Permission denied)", "no-rights"),
        ("org.apache.hadoop.security.AccessControlException: user=guest, access=READ", "no-rights"),
        ("Job aborted due to stage failure: ExecutorLostFailure (executor 1 exited)", "connection-lost"),
        ("Job aborted due to stage failure: Master removed our application: FAILED", "connection-lost"),
        ("Job 3 cancelled because SparkContext was shut down", "connection-lost"),
        ("ModuleNotFoundError: No module named pyarrow", "engine-missing"),
        ("something that nobody has heard of", "engine"),
    ],
)
def test_troubles_of_spark(text, code):
    error = describe_spark_error(
        Exception(f"{text}: {SECRET}"), parse_address("spark://head:7077/visits")
    )
    assert [finding.code for finding in error.findings] == [code]
    assert "4711" not in str(error)


@pytest.mark.parametrize("error", [ConnectionResetError(SECRET), EOFError(SECRET)])
def test_a_lost_connection_to_spark(error):
    found = describe_spark_error(error, parse_address("spark://head:7077/visits"))
    assert [finding.code for finding in found.findings] == ["connection-lost"]
