"""The synchronous client is generated from the asynchronous one."""

import subprocess
import sys
from pathlib import Path

GENERATOR = Path(__file__).parents[1] / "generate_sync.py"


def test_the_synchronous_modules_are_up_to_date() -> None:
    done = subprocess.run([sys.executable, GENERATOR, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
