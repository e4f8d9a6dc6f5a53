"""A PostgreSQL server of the tests' own, on the loopback, with a folder of its own; it ends with them."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

PASSWORD = "not ’for’ logs: 7f3a"
CLEAR_USER = "clear"
"""The server asks this user for the password in clear."""
CERTIFICATE = "server.crt"


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _program(name: str) -> str:
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}")) or [shutil.which(name)]
    assert found[-1], f"{name} is missing: run `make setup-sources` as root, or install postgresql"
    return found[-1]


@dataclass
class Server:
    """A running server."""

    folder: Path
    port: int
    process: subprocess.Popen

    def address(self, table: str = "", user: str = "keeper", database: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}" + (f"#{table}" if table else "")

    def connect(self, **more):
        import psycopg

        return psycopg.connect(self.address(), password=PASSWORD, autocommit=True, **more)

    def run(self, *queries: str) -> None:
        with self.connect() as connection:
            for query in queries:
                connection.execute(query)

    def rows(self, query: str) -> list[tuple]:
        with self.connect() as connection:
            return connection.execute(query).fetchall()

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)


def _as_server_user() -> dict:
    """The server refuses to run as root."""
    if os.getuid() != 0:
        return {}
    account = pwd.getpwnam("postgres")
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


def _make_certificate(folder: Path, who: dict) -> None:
    """Make a certificate of the loopback address that is its own root."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "server.key", "-out", CERTIFICATE],
        check=True, capture_output=True, cwd=folder, **who,
    )  # fmt: skip
    (folder / "server.key").chmod(0o600)


def start_server() -> Server:
    """Make a database and start its server. The folder is not pytest's, in which other users may not look."""
    folder = Path(tempfile.mkdtemp(prefix="vbas-postgresql-"))
    data, secret = folder / "data", folder / "secret"
    secret.write_text(PASSWORD, encoding="utf-8")
    who = _as_server_user()
    if who:
        for path in (folder, secret):
            os.chown(path, who["user"], who["group"])
    subprocess.run(
        [_program("initdb"), "-D", str(data), "-U", "keeper", f"--pwfile={secret}", "-A", "scram-sha-256", "-E", "UTF8",
         "--locale=C.UTF-8", "--no-sync"],
        check=True, capture_output=True, cwd=folder, **who,
    )  # fmt: skip
    _make_certificate(folder, who)
    rules = data / "pg_hba.conf"
    rules.write_text(
        f"host all {CLEAR_USER} 127.0.0.1/32 password\n{rules.read_text()}", encoding="utf-8"
    )
    port = free_port()
    settings = {
        "listen_addresses": "127.0.0.1", "port": str(port), "unix_socket_directories": str(folder), "fsync": "off",
        "shared_buffers": "64MB", "log_statement": "none", "max_connections": "20",
        "ssl": "on", "ssl_cert_file": str(folder / CERTIFICATE), "ssl_key_file": str(folder / "server.key"),
    }  # fmt: skip
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    log = (folder / "log").open("wb")
    process = subprocess.Popen(
        [_program("postgres"), "-D", str(data), *options], stdout=log, stderr=log, cwd=folder, **who
    )
    log.close()
    server = Server(folder, port, process)
    ready = [_program("pg_isready"), "-h", "127.0.0.1", "-p", str(port), "-t", "1"]
    for _ in range(60):
        if subprocess.run(ready, capture_output=True, check=False).returncode == 0:
            return server
        if process.poll() is not None:
            break
        try:
            process.wait(0.25)
        except subprocess.TimeoutExpired:
            continue
    said = (folder / "log").read_text(encoding="utf-8")
    server.stop()
    raise AssertionError(said)


@dataclass
class Cluster:
    """A Spark master with two workers, each a process of its own, with room for two programs at a time."""

    port: int
    folder: Path
    processes: list[subprocess.Popen]

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Java does not live long enough here for its best compiler to pay."""


def start_cluster(workers: int = 2) -> Cluster:
    """Start a master and workers on the loopback."""
    import pyspark

    home = Path(pyspark.__file__).parent
    folder = Path(tempfile.mkdtemp(prefix="vbas-spark-"))
    port = free_port()
    environment = {
        **os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_NO_DAEMONIZE": "1",
        "SPARK_DAEMON_MEMORY": "512m", "SPARK_LOCAL_DIRS": str(folder), "SPARK_DAEMON_JAVA_OPTS": QUICK,
    }  # fmt: skip
    settings = {
        "spark.cores.max": str(workers), "spark.executor.cores": "1", "spark.executor.memory": "512m",
        "spark.driver.extraJavaOptions": QUICK, "spark.executor.extraJavaOptions": QUICK,
    }  # fmt: skip
    lines = "".join(f"{name} {value}\n" for name, value in settings.items())
    (folder / "spark-defaults.conf").write_text(lines, encoding="utf-8")
    java = shutil.which("java")
    assert java, "java is missing: run `make setup-sources` as root, or install default-jre-headless"
    kind = "org.apache.spark.deploy."
    command = [str(home / "bin" / "spark-class")]
    own = ["--host", "127.0.0.1", "--webui-port", str(free_port())]
    log = (folder / "log").open("wb")
    processes = [
        subprocess.Popen(
            [*command, f"{kind}master.Master", *own, "--port", str(port)],
            stdout=log,
            stderr=log,
            env=environment,
        )
    ]
    cluster = Cluster(port, folder, processes)
    for _ in range(120):
        if _answers(port):
            break
        assert processes[0].poll() is None, (folder / "log").read_text(encoding="utf-8")
        try:
            processes[0].wait(0.25)
        except subprocess.TimeoutExpired:
            continue
    for number in range(workers):
        work = ["--cores", "2", "--memory", "1g", "--work-dir", str(folder / f"work{number}")]
        own = ["--host", "127.0.0.1", "--webui-port", str(free_port())]
        processes.append(
            subprocess.Popen(
                [*command, f"{kind}worker.Worker", *own, *work, f"spark://127.0.0.1:{port}"],
                stdout=log,
                stderr=log,
                env=environment,
            )
        )
    log.close()
    return cluster
