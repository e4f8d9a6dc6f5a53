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
            NoticeAction(
                "Tr&y the sample data", context.open_sample, "Open the data that come with the program"
            ),
        ]
    remedies = [
        NoticeAction(remedy.text, partial(state.change, remedy.choices), remedy.tip)
        for remedy in state.list_remedies()
        if remedy.choices is not None
    ]
    return [
        *remedies,
        NoticeAction(
            "&Go to Input", partial(_show_tab, context, "Input"), "Show files, columns and settings"
        ),
    ]


def list_ways_to_solution(context: UiContext) -> list[NoticeAction]:
    """List the buttons for a page that shows something of the chosen solution, while there is none."""
    if context.state.why_not_run() is not None:
        return list_ways_on(context)
    if not context.state.entries:
        return [
            NoticeAction(
                "Ru&n",
                partial(context.run, None),
                "Run the combination that is chosen in Input (Ctrl+R)",
            )
        ]
    return [
        NoticeAction("&Go to Results", partial(_show_tab, context, "Results"), "Choose a solution there")
    ]


def _show_tab(context: UiContext, title: str) -> None:
    context.show_map()
    context.show_tab(title)
