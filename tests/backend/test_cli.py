import subprocess
import sys

import pytest

WITHOUT = """
import sys
for missing in {missing!r}:
    sys.modules[missing] = None
sys.argv = ["arcadia", *{arguments!r}]
from backend.cli import main
main()
"""
OF_THE_BACKEND = ["fastapi", "uvicorn", "sqlalchemy", "alembic", "plotly", "psycopg"]
OF_THE_TRAINER = ["torch", "gymnasium", "ale_py", "av", "safetensors"]


@pytest.mark.parametrize(
    ("missing", "arguments", "said"),
    [
        (OF_THE_BACKEND, ["worker", "--help"], "arcadia worker"),
        (OF_THE_BACKEND, ["train", "--help"], "--preset"),
        (OF_THE_TRAINER, ["backend", "--help"], "--port"),
    ],
)
def test_each_command_starts_where_only_its_own_packages_are_installed(
    missing: list[str], arguments: list[str], said: str
) -> None:
    program = WITHOUT.format(missing=missing, arguments=arguments)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout
