"""Stops by signals: not in the middle of what must end, and not after the result is in place."""

import os
import signal
import threading

import pytest

from vbas_desktop.cli import main as cli
from vbas_desktop.io import exchange
from vbas_desktop.io.output import staged_folder
from vbas_desktop.io.signals import (
    defer_stop_signals,
    handle_stop_signals,
    record_output,
    recorded_outputs,
)

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals of Unix")
NUMBERS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(autouse=True)
def usual_handlers():
    """Whatever started the tests, signals mean what they usually do."""
    before = {number: signal.getsignal(number) for number in NUMBERS}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", NUMBERS)
def test_every_signal_is_a_stop_and_handlers_come_back(number):
    with pytest.raises(KeyboardInterrupt), handle_stop_signals(to_the_end=False):
        os.kill(os.getpid(), number)
    assert [signal.getsignal(each) for each in NUMBERS] == [
        signal.default_int_handler,
        signal.SIG_DFL,
        signal.SIG_DFL,
    ]


def test_after_the_last_command_a_stop_finds_nothing_to_stop():
    with handle_stop_signals(to_the_end=True):
        pass
    for number in NUMBERS:
        os.kill(os.getpid(), number)


def test_an_ignored_signal_stays_ignored():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with handle_stop_signals(to_the_end=True):
        os.kill(os.getpid(), signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


@pytest.mark.parametrize("number", NUMBERS)
def test_what_must_end_ends_before_the_stop(number):
    ended = []

    def work():
        with defer_stop_signals():
            os.kill(os.getpid(), number)
            ended.append(True)

    with handle_stop_signals(to_the_end=False):
        with pytest.raises(KeyboardInterrupt):
            work()
        assert ended == [True]
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)


def test_in_another_thread_nothing_is_touched():
    seen = []

    def work():
        with handle_stop_signals(to_the_end=True), defer_stop_signals():
            seen.append([signal.getsignal(number) for number in NUMBERS])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [[signal.default_int_handler, signal.SIG_DFL, signal.SIG_DFL]]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_stop_during_the_swap_comes_when_the_result_is_in_place_and_nothing_is_left_over(
    tmp_path, monkeypatch, number
):
    def write(text):
        with staged_folder(tmp_path / "out", ("one",)) as folder:
            (folder / "one").write_text(text)

    write("old")
    swap = exchange.exchange

    def stopped_while(one, other):
        os.kill(os.getpid(), number)
        return swap(one, other)

    monkeypatch.setattr(exchange, "exchange", stopped_while)
    with handle_stop_signals(to_the_end=False):
        with pytest.raises(KeyboardInterrupt):
            write("new")
        assert recorded_outputs() == (tmp_path / "out",)
    assert (tmp_path / "out" / "one").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_command_says_whether_the_stop_came_in_time(monkeypatch, capsys, tmp_path):
    def stopped_early(arguments):
        raise KeyboardInterrupt

    def stopped_late(arguments):
        record_output(tmp_path / "out")
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_main", stopped_early)
    assert cli.main([]) == 130
    assert "Nothing half-written" in capsys.readouterr().err
    monkeypatch.setattr(cli, "_main", stopped_late)
    assert cli.main([]) == 0
    assert f"complete in {tmp_path / 'out'}" in capsys.readouterr().err
    monkeypatch.setattr(cli, "_main", stopped_early)
    assert cli.main([]) == 130, "what an earlier command put in place does not count"
