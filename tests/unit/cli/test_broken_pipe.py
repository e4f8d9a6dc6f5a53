"""A reader that has seen enough is no error."""

import subprocess
import sys


def test_output_that_nobody_reads_to_the_end_is_no_error():
    command = f"{sys.executable} -m vbas_desktop.cli approaches | head -n 1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.returncode == 0
