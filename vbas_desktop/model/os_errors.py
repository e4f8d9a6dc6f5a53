"""Errors of the operating system as findings: what happened, where, and what to do."""

from __future__ import annotations

import errno
import os

from .errors import Finding

_NO_SPACE = ("The disk is full, or a limit was reached.", "Free some space, or choose a folder on another disk.")
_NOT_ALLOWED = ("Access is not allowed.", "Check the permissions of the file and of its folders, or choose others.")
_NO_MEMORY = ("There is not enough memory.", "Close other programs, and try again.")
_TOO_MANY_FILES = ("Too many files are open.", "Close other programs, and try again.")
_IN_USE = ("Another program uses it.", "Close that program, and try again.")
_THERE_ALREADY = ("Something else is there already.", "Choose another name, or remove it.")
_NO_ANSWER = ("The disk or network drive does not answer.", "Check the connection, or copy the files to another disk.")

_WORDS = {
    errno.ENOSPC: _NO_SPACE,
    errno.EDQUOT: _NO_SPACE,
    errno.EFBIG: _NO_SPACE,
    errno.EACCES: _NOT_ALLOWED,
    errno.EPERM: _NOT_ALLOWED,
    errno.EROFS: ("The disk is read-only.", "Choose a folder on another disk."),
    errno.ENOENT: ("There is no such file or folder.", "Check the path."),
    errno.ENOTDIR: ("A part of the path is a file, not a folder.", "Check the path."),
    errno.EISDIR: ("This is a folder, not a file.", "Name a file."),
    errno.EEXIST: _THERE_ALREADY,
    errno.ENOTEMPTY: _THERE_ALREADY,
    errno.ENAMETOOLONG: ("The path is too long.", "Choose shorter names."),
    errno.ELOOP: ("The links on the path lead in a circle.", "Check the path."),
    errno.EMFILE: _TOO_MANY_FILES,
    errno.ENFILE: _TOO_MANY_FILES,
    errno.EBUSY: _IN_USE,
    errno.ETXTBSY: _IN_USE,
    errno.ENOMEM: _NO_MEMORY,
    errno.EIO: _NO_ANSWER,
    errno.ESTALE: _NO_ANSWER,
    errno.ETIMEDOUT: _NO_ANSWER,
}


def explain_os_error(error: OSError) -> Finding:
    """Say what the system refused, with its path and a remedy."""
    usual = (
        f"The file cannot be read or written ({error.strerror or type(error).__name__}).",
        "Check the path, the permissions and the free space.",
    )
    message, remedy = _WORDS.get(error.errno or 0, usual)
    path = error.filename
    file = _visible(os.fsdecode(path)) if isinstance(path, str | bytes | os.PathLike) else None
    return Finding("system", message, remedy, file=file)


def _visible(path: str) -> str:
    """Name the folder of a hidden file: the program gave it that name, which tells the user nothing."""
    folder, name = os.path.split(path)
    return folder or "." if name.startswith(".") and name not in (".", "..") else path
