"""A picture of the window is taken when its work is done, and a failure is told instead."""

from PySide6.QtGui import QImage

from vbas_desktop.ui.application import Snapshot


def test_the_picture_shows_the_window_after_its_work_is_done(window, data, tmp_path, qtbot):
    window.data_commands.load(*data)
    snapshot = Snapshot(window, tmp_path / "window.png")
    with qtbot.waitSignal(snapshot.finished, timeout=60_000) as finished:
        pass
    assert finished.args == [""]
    assert window.state.records_path == data[0]
    picture = QImage(str(tmp_path / "window.png"))
    assert picture.size() == window.size() * 2
    assert [path.name for path in tmp_path.glob("*window*")] == ["window.png"]


def test_what_is_scrolled_stays_within_its_part_of_the_picture(aggregated_window, tmp_path, qtbot):
    window = aggregated_window
    window.resize(760, 560)
    snapshot = Snapshot(window, tmp_path / "window.png")
    with qtbot.waitSignal(snapshot.finished, timeout=60_000):
        pass
    picture = QImage(str(tmp_path / "window.png")).scaled(window.size())
    seen = window.grab().toImage()
    places = [(x, y) for x in range(0, seen.width(), 7) for y in range(0, seen.height(), 7)]
    lightness = [
        (picture.pixelColor(x, y).lightness(), seen.pixelColor(x, y).lightness()) for x, y in places
    ]
    differing = sum(abs(first - second) > 60 for first, second in lightness)
    assert differing < 0.03 * len(places)


def test_a_file_that_cannot_be_written_is_told(window, tmp_path, qtbot, monkeypatch):
    monkeypatch.setattr("vbas_desktop.ui.shell.data_commands.show_failure", lambda window, failure: None)
    snapshot = Snapshot(window, tmp_path / "no such folder" / "window.png")
    with qtbot.waitSignal(snapshot.finished, timeout=60_000) as finished:
        pass
    assert finished.args[0].startswith("Saving the picture failed.")
    assert "could not be written" in finished.args[0]
