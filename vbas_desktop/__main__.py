"""`vbas-desktop [PROJECT.vbas] [--demo]`: opens the window, or says why there cannot be one.

Qt ends the whole process when it finds no screen, so screen and libraries are checked before Qt is imported.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from vbas_desktop import __version__

LIBRARIES: dict[str, str] = {
    "libglib-2.0.so.0": "libglib2.0-0",
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libxkbcommon.so.0": "libxkbcommon0",
}
"""The system libraries that Qt needs to load at all, with the Debian packages that bring them."""

SCREEN_LIBRARIES: dict[str, str] = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
"""What Qt needs in addition to draw on an X11 screen."""


def main(argv: Sequence[str] | None = None) -> int:
    """Open the window: 0 closed by the user, 1 there is no screen or a library is missing, 2 wrong usage."""
    options = _parser().parse_args(argv)
    reason = why_no_picture(options) or why_no_window(os.environ)
    if reason:
        sys.stderr.write(f"vbas-desktop: {reason}\n")
        return 1
    from vbas_desktop.ui.application import main as open_window

    return open_window(project=options.project, demo=options.demo, picture=options.picture)


def why_no_picture(options: argparse.Namespace) -> str | None:
    """Say why the picture cannot be saved where it should be; None if nothing speaks against it."""
    if options.picture is None:
        return None
    from vbas_desktop.io.output import check_target
    from vbas_desktop.model.findings import InputError

    try:
        check_target(
            options.picture, inputs=[options.project] if options.project else [], replace=options.replace
        )
    except InputError as error:
        return str(error)
    return None


def why_no_window(
    environment: Mapping[str, str],
    platform: str = sys.platform,
    loads: Callable[[str], bool] | None = None,
    answers: Callable[[str], bool] | None = None,
) -> str | None:
    """Why no window can be opened here, with what to do about it; None if nothing speaks against it."""
    if not platform.startswith("linux"):
        return None
    chosen = environment.get("QT_QPA_PLATFORM", "")
    display, wayland = environment.get("DISPLAY"), environment.get("WAYLAND_DISPLAY")
    if not (chosen or display or wayland):
        return (
            "there is no screen here (neither DISPLAY nor WAYLAND_DISPLAY is set). "
            "Use the command `vbas` instead: it does every job without a window."
        )
    on_x11 = chosen.startswith("xcb") or (not chosen and not wayland)
    needed = LIBRARIES | (SCREEN_LIBRARIES if on_x11 else {})
    missing = [package for library, package in needed.items() if not (loads or _loads)(library)]
    if missing:
        return (
            f"system libraries are missing. On Debian or Ubuntu run: apt-get install {' '.join(missing)}"
        )
    if on_x11 and not (answers or _x11_answers)(display or ""):
        return f"the screen {display or '(DISPLAY is not set)'} does not answer. Is it the right one, and allowed?"
    return None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="vbas-desktop",
        description="Make record files k-anonymous by merging small regions, on a map.",
    )
    parser.add_argument(
        "project", nargs="?", type=Path, metavar="PROJECT.vbas", help="a project to open"
    )
    parser.add_argument("--demo", action="store_true", help="open the sample data and run it")
    parser.add_argument(
        "--picture", type=Path, metavar="FILE", help="save a picture (PNG, SVG, PDF) and close"
    )
    parser.add_argument(
        "--replace", action="store_true", help="replace the picture if it is there already"
    )
    parser.add_argument("--version", action="version", version=f"vbas-desktop {__version__}")
    return parser


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _x11_answers(display: str) -> bool:
    """Test whether the X server lets us in; libxcb is asked, which knows sockets, hosts and permissions."""
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return False
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(display.encode(), None))
    refused = bool(xcb.xcb_connection_has_error(connection))
    xcb.xcb_disconnect(connection)
    return not refused


if __name__ == "__main__":
    sys.exit(main())
