"""The reference in docs/client/cli.md."""

import subprocess
import sys
from pathlib import Path

GENERATOR = Path(__file__).parents[2] / "generate_reference.py"


def test_the_reference_has_the_current_commands() -> None:
    done = subprocess.run([sys.executable, GENERATOR, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
