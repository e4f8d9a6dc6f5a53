"""Connects to a PostgreSQL server, and explains its errors."""

from __future__ import annotations

import getpass
import io
import ipaddress
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from vbas_desktop.background import run_cancellable
from vbas_desktop.model.findings import InputError, input_error
from vbas_desktop.model.progress import Progress

from .address import Address
from .engine import engine_not_installed

PROGRAM = "vbas-desktop"
"""How the program names itself to the server."""
_CONNECT_SECONDS = 15

_remembered: dict[str, str] = {}


def remember_password(address: Address, password: str) -> None:
    """Keep a password in memory, for this process and this server only."""
    _remembered[address.location] = password


def protection_parameters(address: Address) -> dict[str, str]:
    """Make the parameters of a connection that keep passwords and records from others.

    Every host but this machine must prove its identity by a certificate, unless the address says otherwise
    (``?sslmode=…``). A server that was not verified gets no password that it, or somebody on the way, could read.
    """
    parts = urlsplit(address.location)
    stated = dict(parse_qsl(parts.query))
    parameters = {}
    mode = stated.get("sslmode")
    if mode is None and not _is_this_machine(parts.hostname or ""):
        mode = "verify-full"
        parameters["sslmode"] = mode
        if "sslrootcert" not in stated and not _has_own_root_certificate():
            parameters["sslrootcert"] = "system"
    if mode != "verify-full":
        parameters["require_auth"] = "!password,!md5"
    return parameters


def _is_this_machine(host: str) -> bool:
    if host.casefold() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _has_own_root_certificate() -> bool:
    """Tell whether the user has named root certificates where PostgreSQL's own programs look for them."""
    return "PGSSLROOTCERT" in os.environ or Path("~/.postgresql/root.crt").expanduser().exists()


def open_connection(address: Address, progress: Progress, password: str | None = None) -> Any:
    """Connect to the server of an address and to no other; ask for a missing password at the terminal."""
    try:
        import psycopg
    except ImportError:
        raise engine_not_installed(address, "psycopg") from None

    password = password if password is not None else _remembered.get(address.location)

    def connect(secret: str | None) -> Any:
        password_option = {} if secret is None else {"password": secret}
        return psycopg.connect(
            address.location,
            autocommit=True,
            application_name=PROGRAM,
            connect_timeout=_CONNECT_SECONDS,
            prepare_threshold=None,
            **protection_parameters(address),
            options="-c timezone=UTC -c datestyle=ISO -c intervalstyle=iso_8601 -c extra_float_digits=1",
            **password_option,
        )

    try:
        # Nothing can cancel it; it ends by itself after the time that is allowed for connecting.
        return run_cancellable(lambda: connect(password), progress, "Connecting", cancel=lambda: None)
    except psycopg.Error as error:
        if (
            password is None
            and _needs_password(str(error))
            and sys.stdin.isatty()
            and sys.stderr.isatty()
        ):
            try:
                return connect(getpass.getpass(f"Password for {address.location}: "))
            except psycopg.Error as second:
                error = second
        raise describe_error(error, address) from None


@contextmanager
def explain_server_errors(address: Address) -> Iterator[None]:
    """Raise errors of the server as `InputError`, which quotes no values."""
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        raise describe_error(error, address) from None


def _needs_password(text: str) -> bool:
    return "no password supplied" in text


def describe_error(error: Exception, address: Address) -> Exception:
    """Return the input error for an error of a server, whose own text may quote values."""
    import psycopg
    from psycopg import errors

    file = str(address)
    if isinstance(error, errors.QueryCanceled):
        return input_error(
            "cancelled",
            "The server ended the query.",
            "Try again, or ask who runs the server.",
            file=file,
        )
    kinds: list[tuple[Any, str, str, str]] = [
        (errors.InsufficientPrivilege, "no-rights", "You may not do this on the server.",
         "Ask for the right to read the table and to make temporary tables."),
        (errors.UndefinedTable, "no-such-table", "The table no longer exists.", "Check its name."),
        (errors.UndefinedColumn, "no-such-column", "A column no longer exists.", "Load the table again."),
        (errors.DiskFull, "server-full", "The server has no room left.", "Ask who runs the server."),
        (errors.OutOfMemory, "server-full", "The server has no memory left.", "Ask who runs the server."),
        (errors.UndefinedFunction, "no-fit", "A column has a type that cannot be grouped or compared.",
         "Cast it to text in a view, and name that."),
        (errors.DataError, "no-fit", "Values do not fit the type of their column.", "Cast it to text in a view."),
    ]  # fmt: skip
    for kind, code, message, remedy in kinds:
        if isinstance(error, kind):
            return input_error(code, message, remedy, file=file)
    if isinstance(error, psycopg.OperationalError):
        return _describe_lost_connection(str(error), file)
    message = f"The server could not do this ({type(error).__name__})."
    return input_error("engine", message, "Ask who runs the server.", file=file)


_CONNECTION_ERRORS = (
    (r"authentication method requirement", "unsafe-password",
     "The server asks for the password in clear or as MD5 and is not verified; the password was not sent.",
     "Add ?sslmode=verify-full to the address, or ask who runs the server to use SCRAM."),
    (r"certificate|server does not support SSL", "not-verified",
     "The server does not prove its identity by a certificate that this computer trusts.",
     "Name the root certificate (?sslrootcert=FILE), or say in the address what is enough, such as ?sslmode=require."),
    (r"password authentication failed|no password supplied", "wrong-password",
     "The server does not accept the user or the password.",
     "Put the right one into the password file (PGPASSFILE) or the variable PGPASSWORD."),
    (r"database.*does not exist", "no-such-database", "The server has no such database.", "Check its name."),
    (r"role.*does not exist", "no-such-user", "The server does not know this user.", "Check the name."),
    (r"no pg_hba\.conf entry", "no-rights", "The server lets nobody in from here.", "Ask who runs the server."),
    (r"resolve|name or service", "no-such-host", "There is no host of this name.", "Check the address."),
    (r"refused|timeout|timed out|unreachable", "no-server", "No server answers there.",
     "Check host and port, and whether it runs."),
    (r"", "connection-lost", "The connection to the server was lost; what was begun was given up.",
     "Try again when the server runs."),
)  # fmt: skip
"""Pattern in an error of a connection, with code, message and remedy; the first that fits counts."""


def _describe_lost_connection(text: str, file: str) -> InputError:
    for pattern, code, message, remedy in _CONNECTION_ERRORS:
        if re.search(pattern, text, re.IGNORECASE | re.DOTALL):
            return input_error(code, message, remedy, file=file)
    raise AssertionError("the last pattern fits every text")


class CopyStream(io.RawIOBase):
    """The data of a COPY as a file whose pieces never end with a return: pyarrow drops a line feed that follows."""

    def __init__(self, copy: Any) -> None:
        self._copy = copy
        self._waiting = bytearray()
        self._ended = False

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def is_empty(self) -> bool:
        """Look ahead and tell whether there is nothing at all."""
        self._fill(1)
        return not self._waiting

    def _fill(self, size: int) -> None:
        while len(self._waiting) < size and not self._ended:
            data = self._copy.read()
            self._ended = not data
            self._waiting += data

    def read(self, size: int = -1) -> bytes:
        """Read the next piece, of ``size`` bytes or one fewer."""
        self._fill(size + 1 if size > 0 else sys.maxsize)
        if size < 0:
            size = len(self._waiting)
        if size and len(self._waiting) > size and self._waiting[size - 1] == ord("\r"):
            size -= 1
        piece = bytes(self._waiting[:size])
        del self._waiting[:size]
        return piece
