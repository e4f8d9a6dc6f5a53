"""A command that is asked to end cleans up and says so."""

import os
import signal
from functools import partial

import pytest

from vbas_desktop.cli import approaches
from vbas_desktop.cli.main import main


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals")
@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_to_end_is_a_stop(monkeypatch, capsys, request, number):
    number, cleaned = getattr(signal, number), []
    # Whatever started the tests may have it ignored, as shells do in the background.
    before = signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL
    request.addfinalizer(partial(signal.signal, number, signal.signal(number, before)))

    def interrupted(options):
        try:
            os.kill(os.getpid(), number)
        finally:
            cleaned.append(True)

    monkeypatch.setattr(approaches, "run", interrupted)
    assert main(["approaches"]) == 130
    assert cleaned
    assert "Stopped." in capsys.readouterr().err
    assert signal.getsignal(number) is before


def test_a_stop_while_the_commands_are_loaded_is_told_too(monkeypatch, capsys):
    def interrupted(parser):
        raise KeyboardInterrupt

    monkeypatch.setattr(approaches, "configure", interrupted)
    assert main(["approaches"]) == 130
    assert capsys.readouterr().err == "Stopped. Nothing half-written was left behind.\n"
