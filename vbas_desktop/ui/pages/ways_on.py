"""What leads on where a page cannot do its work: buttons that open data, set what is missing, or lead to Input."""

from __future__ import annotations

from functools import partial

from ..core.context import UiContext
from ..widgets.notice_bar import NoticeAction


def list_ways_on(context: UiContext) -> list[NoticeAction]:
    """List the buttons for a page whose work is stopped by what is loaded, or by the choices in Input."""
    state = context.state
    if not state.has_data:
        return [
            NoticeAction("Open &data…", context.open_data, "Choose the record file and the region file"),
            NoticeAction("Tr&y the sample data", context.open_sample, "Open the data that come with the program"),
        ]
    remedies = [
        NoticeAction(remedy.text, partial(state.change, remedy.choices), remedy.tip)
        for remedy in state.list_remedies()
        if remedy.choices is not None
    ]
    return [*remedies, NoticeAction("&Go to Input", partial(_show_input, context), "Show files, columns and settings")]


def _show_input(context: UiContext) -> None:
    context.show_map()
    context.show_tab("Input")
