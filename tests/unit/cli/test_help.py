"""The help of every command fits a terminal of 80 columns, and its examples can be copied."""

import re

import pytest

from vbas_desktop.cli.arguments import wrap_example
from vbas_desktop.cli.main import COMMANDS, main

UNBREAKABLE = re.compile(r"^\s*\[?--[\w-]+ \{[^ ]*\}\]?$")
"""An option whose choices argparse writes in one word."""


@pytest.fixture
def help_of(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")

    def shown(*command):
        with pytest.raises(SystemExit) as ended:
            main([*command, "--help"])
        assert ended.value.code == 0
        return capsys.readouterr().out

    return shown


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)], ids=" ".join)
def test_no_line_is_longer_than_the_terminal(help_of, command):
    lines = help_of(*command).splitlines()
    assert [line for line in lines if len(line) > 80 and not UNBREAKABLE.match(line)] == []
    assert not any(".;" in line or ". (default" in line for line in lines)


@pytest.mark.parametrize("command", COMMANDS)
def test_an_example_is_the_same_command_after_folding(help_of, command):
    text = help_of(command)
    module = __import__(f"vbas_desktop.cli.{command.replace('-', '_')}", fromlist=["EXAMPLE"])
    example = getattr(module, "EXAMPLE", "")
    as_one = [
        " ".join(each.replace("\\\n", " ").split()) for each in (text[text.rfind("Example") :], example)
    ]
    if example:
        assert as_one[0] == as_one[1]


def test_a_long_line_goes_on_after_a_backslash():
    assert wrap_example("  vbas run a.csv b.csv --region-column tract -k 5 \\", 30) == [
        "  vbas run a.csv b.csv \\",
        "      --region-column tract \\",
        "      -k 5 \\",
    ]
    assert wrap_example("Example:", 30) == ["Example:"]
