"""Generate report lines, labels of undo steps and commands from declared options."""

from __future__ import annotations

from collections.abc import Collection

from .option import OptionGroup, changed_options


def describe_change(before: OptionGroup, after: OptionGroup) -> str:
    """Name what differs between two groups of one class by the labels of options, such as “change of k”."""
    labels = dict.fromkeys(format_as_noun(option.title) for option in changed_options(before, after))
    return f"change of {' and '.join(labels)}"


def format_as_noun(label: str) -> str:
    """Put a label into a sentence: one word as it is, several in quotes, without the remark in brackets."""
    short = label.partition(" (")[0]
    return f"“{short}”" if " " in short else short[:1].lower() + short[1:]


def report_lines(group: OptionGroup, without: Collection[str] = ()) -> list[tuple[str, str]]:
    """List label and value of the options that differ from their default and affect the result."""
    changed = changed_options(type(group)(), group)
    return [
        (option.title, option.describe(group.value_of(option.name)))
        for option in changed
        if option.affects_result and option.name not in without
    ]


def repeat_arguments(group: OptionGroup, without: Collection[str] = ()) -> list[str]:
    """Return the words of a command line that give these settings; defaults and what affects no result are left out."""
    changed = changed_options(type(group)(), group)
    words = []
    for option in group.options():
        is_needed = option.required or (option in changed and option.affects_result)
        if is_needed and option.name not in without:
            words += option.to_argv(group.value_of(option.name))
    return words
