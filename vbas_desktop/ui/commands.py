"""Every command of the window as data: text with mnemonic, shortcut, icon, tip. The menus are built from this."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """One action. ``name`` is the method of the controller that does it."""

    name: str
    text: str
    tip: str
    shortcut: str = ""
    icon: str = ""
    checkable: bool = False


SEPARATOR = None

EXPORT = Command("export", "&Export…", "Write the release of a solution, verified, with its papers", "Ctrl+E", "export")

FILE = (
    Command("open_data", "&Open data…", "Choose a record file and a region file", "Ctrl+O", "open"),
    Command(
        "open_sample", "&Try the sample data", "Try the program with data that come with it", "Ctrl+Shift+O", "sample"
    ),
    SEPARATOR,
    Command("open_project", "Open &project…", "Continue a saved project", "Ctrl+Alt+O", "project"),
    Command(
        "save_project", "&Save project", "Save choices and results; records stay in their own file", "Ctrl+S", "save"
    ),
    Command("save_project_as", "Save project &as…", "Save choices and results under another name", "Ctrl+Shift+S"),
    SEPARATOR,
    EXPORT,
    Command(
        "reload", "&Read the files again", "Load both files again with the reading options in force", "F5", "refresh"
    ),
)

EDIT = (
    Command("undo", "&Undo", "Take back the last change of roles, settings or the list of solutions", "Ctrl+Z", "undo"),
    Command("redo", "&Redo", "Redo the change that was taken back", "Ctrl+Shift+Z", "redo"),
)

RUN = (
    Command("run", "&Run", "Run the chosen combination over its range of site numbers", "Ctrl+R", "run"),
    Command(
        "compare_combinations",
        "&Compare combinations…",
        "Run many combinations of approaches and see which is best in what",
        icon="compare",
    ),
    Command("stop", "&Stop", "Stop the running job; finished solutions are kept", "Ctrl+.", "stop"),
)

HELP = (
    Command("show_guide", "User &guide", "How to work with this program", "F1", "help"),
    Command("show_hints", "Show &hints again", "Show the hints of the first start again", "Shift+F1"),
    SEPARATOR,
    Command("show_about", "&About VBAS Desktop", "Version, libraries and licence", "Ctrl+F1", "info"),
)
