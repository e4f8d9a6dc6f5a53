"""Tests with real engines: they run by `make test-sources`, which installs what they need."""

from __future__ import annotations

import os

import pytest

if not os.environ.get("VBAS_TEST_SOURCES"):
    collect_ignore_glob = ["test_*.py"]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items) -> None:
    """Tests of one server go to one worker: their ids end with its name, which xdist itself no longer achieves."""
    if not getattr(config.option, "loadgroup", False):
        return
    from _pytest.nodeid import coerce_node_id

    for item in items:
        mark = item.get_closest_marker("xdist_group")
        if mark is not None and "@" not in item.nodeid.rpartition("]")[2]:
            item._id = coerce_node_id(f"{item.nodeid}@{mark.args[0]}")


@pytest.fixture(autouse=True)
def few_threads(monkeypatch):
    """Small tables need little."""
    monkeypatch.setenv("VBAS_DUCKDB_MEMORY", "512MB")


@pytest.fixture(scope="session")
def server():
    """One PostgreSQL server for all tests that do not kill it."""
    from servers import start_server

    running = start_server()
    yield running
    running.stop()


@pytest.fixture
def password(monkeypatch):
    """The password as a user would give it."""
    from servers import PASSWORD

    monkeypatch.setenv("PGPASSWORD", PASSWORD)


@pytest.fixture(scope="session")
def spark():
    """The beginning of addresses at a Spark cluster of two workers; one session serves all tests."""
    from servers import start_cluster

    from vbas_desktop.io.databases.address import Address, EngineKind
    from vbas_desktop.io.databases.spark_engine import _release_session, _share_session

    cluster = start_cluster()
    master = f"spark://127.0.0.1:{cluster.port}"
    # Programs that tests start find the settings there, too.
    os.environ["SPARK_CONF_DIR"] = str(cluster.folder)
    try:
        _share_session(Address(master, EngineKind.SPARK, master), master)
        yield master
        _release_session(master)
    finally:
        del os.environ["SPARK_CONF_DIR"]
        cluster.stop()
