"""Work in a thread of its own: its result, errors and progress reach who waits, and it ends with its block."""

import threading

import pytest

from vbas_desktop.jobs.beside import beside
from vbas_desktop.model.progress import Cancelled, Silent


class Told:
    def __init__(self, stops=False):
        self.heard, self.stops, self.here = [], stops, threading.get_ident()

    def update(self, stage, fraction=None):
        assert threading.get_ident() == self.here
        self.heard.append((stage, fraction))
        if self.stops:
            raise Cancelled


def test_the_result_is_there_and_the_work_is_seen_by_who_waits():
    go_on = threading.Event()

    def work(progress):
        progress.update("Reading", 0.5)
        assert go_on.wait(10)
        return 7

    class GoingOn(Told):
        def update(self, stage, fraction=None):
            super().update(stage, fraction)
            if fraction is not None:
                go_on.set()

    told = GoingOn()
    with beside(work) as result:
        assert result(told) == 7
    assert told.heard[-1] == ("Reading", 0.5)


def test_an_error_is_raised_where_the_result_is_asked_for():
    def work(progress):
        raise ValueError("wrong")

    with beside(work) as result, pytest.raises(ValueError, match="wrong"):
        result(Silent())


def endless(ended):
    def work(progress):
        try:
            while True:
                progress.update("Reading")
        except Cancelled:
            ended.set()
            raise

    return work


def test_a_stop_of_who_waits_ends_the_work():
    ended = threading.Event()
    with pytest.raises(Cancelled), beside(endless(ended)) as result:
        result(Told(stops=True))
    assert ended.is_set()


def test_leaving_without_the_result_ends_the_work():
    ended = threading.Event()
    with pytest.raises(KeyError), beside(endless(ended)):
        raise KeyError
    assert ended.is_set()
