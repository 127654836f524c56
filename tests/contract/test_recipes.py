"""Recipes: a copy of the repository to which a worked example in docs/recipes/ is applied works."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COPIED = (
    "alembic",
    "arcadia_server",
    "backend",
    "client",
    "frontend",
    "tests",
    "workers",
    "alembic.ini",
    "pyproject.toml",
)
STEP = re.compile(
    r"^### ([\w./\\-]+)(?:, after `([^`\n]+)`|(, at its end))?\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
MAX_FILES = {"noun": 16}


def newest_revision() -> str:
    """Return the revision of the newest migration."""
    return max(path.name for path in (ROOT / "alembic" / "versions").glob("0*.py")).partition("_")[0]


def copy_repository(target: Path) -> None:
    """Copy the code. The packages of the frontend are linked."""
    for name in COPIED:
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, target / name)
        else:
            ignored = shutil.ignore_patterns("__pycache__", "node_modules", "dist", "build", "*.egg-info")
            shutil.copytree(ROOT / name, target / name, ignore=ignored)
    (target / "frontend" / "node_modules").symlink_to(ROOT / "frontend" / "node_modules")


def apply(recipe: str, root: Path) -> set[str]:
    """Apply a worked example to a copy. Return the paths of its files."""
    steps = STEP.findall((ROOT / "docs" / "recipes" / f"{recipe}.md").read_text())
    for name, anchor, is_end, code in steps:
        path = root / name.replace("\\", "")
        before = path.read_text() if path.exists() else ""
        assert bool(before) == bool(anchor or is_end), f"{name} is new exactly if no line is named"
        if anchor:
            lines = before.splitlines(keepends=True)
            (place,) = (n for n, line in enumerate(lines, 1) if line.strip() == anchor)
            path.write_text("".join([*lines[:place], code, *lines[place:]]))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{before}\n\n{code}" if before else code.replace("HEAD", newest_revision()))
    return {name.replace("\\", "") for name, *_ in steps}


def run(root: Path, *command: str) -> str:
    """Run a command in a copy of the repository. Return its output, and fail if it fails."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root), str(root / "client")])}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of the repository."""
    copy_repository(tmp_path)
    return tmp_path


def test_the_noun_of_the_recipe_touches_few_files_and_is_part_of_the_api(copy: Path) -> None:
    touched = apply("noun", copy)
    assert len(touched) <= MAX_FILES["noun"]
    recipe = (ROOT / "docs" / "extending.md").read_text().partition("## Add an API noun")[2].partition("\n## ")[0]
    # The recipe names the folder of migrations, because their numbers differ.
    assert {path for path in touched if Path(path).name not in recipe} == {"alembic/versions/9999_labels.py"}
    paths = json.loads(run(copy, sys.executable, "-m", "backend.openapi"))["paths"]
    assert set(paths["/api/v1/labels"]) == {"get", "post"}
    assert set(paths["/api/v1/labels/{label_id}"]) == {"delete"}


@pytest.mark.nightly  # A pytest and the TypeScript compiler take half a minute. The test above checks all files.
def test_the_tests_of_the_noun_of_the_recipe_pass(copy: Path) -> None:
    apply("noun", copy)
    tests = ("tests/backend/test_labels.py", "tests/contract/test_backend_order.py")
    assert " passed" in run(copy, sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", *tests)
    (copy / ".setup").mkdir()
    (copy / ".setup" / "openapi.json").write_text(run(copy, sys.executable, "-m", "backend.openapi"))
    for script in ("types", "typecheck", "lint"):
        run(copy, "npm", "--prefix", "frontend", "run", script)
    assert "1 passed" in run(copy, "npm", "--prefix", "frontend", "test", "--", "src/pages/labels")
