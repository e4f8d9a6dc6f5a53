"""What a person sees of the progress."""

import io

from vbas_desktop.cli.terminal import TerminalProgress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_log_gets_each_stage_once_without_its_details():
    log = io.StringIO()
    progress = TerminalProgress(stream=log)
    for stage in ("Reading", "Moving: 1 move", "Reading", "Moving: 2 moves", "Rating"):
        progress.update(stage, 0.5)
    progress.close()
    assert log.getvalue() == "Reading\nMoving\nRating\n"


def test_a_terminal_gets_a_bar_with_the_details_and_is_left_clean():
    terminal = Terminal()
    progress = TerminalProgress(stream=terminal)
    progress.update("Moving: 2 moves", 0.5)
    assert terminal.getvalue().endswith("Moving: 2 moves " + "█" * 12 + " " * 12 + "  50%")
    progress.close()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_quiet_is_quiet():
    terminal = Terminal()
    progress = TerminalProgress(quiet=True, stream=terminal)
    progress.update("Reading", 0.5)
    progress.close()
    assert terminal.getvalue() == ""
