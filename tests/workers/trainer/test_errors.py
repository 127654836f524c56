"""Tests that the error tree in the docstring of the trainer's error module is complete."""

import ast
import re
from pathlib import Path

from arcadia_workers.trainer import errors

TRAINER = Path(errors.__file__).parent
ROOTS = {"Exception", "RuntimeError", "ValueError", "OSError"}


def parents() -> dict[str, str]:
    """Return the errors that the trainer defines, with the parent of each."""
    found: dict[str, str] = {}
    for path in TRAINER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and len(node.bases) == 1 and isinstance(node.bases[0], ast.Name):
                found[node.name] = node.bases[0].id
    return {name: parent for name, parent in found.items() if parent in ROOTS or is_error(parent, found)}


def is_error(name: str, bases: dict[str, str]) -> bool:
    return name == "TrainerError" or (name in bases and is_error(bases[name], bases))


def drawn() -> dict[str, str]:
    """Return the two levels below the root of the tree in the docstring."""
    tree, above = {"TrainerError": "Exception"}, "TrainerError"
    for indent, name in re.findall(r"^(│   )?[├└]── (\w+)", errors.__doc__ or "", re.MULTILINE):
        tree[name] = above if indent else "TrainerError"
        above = above if indent else name
    return tree


def test_the_documented_tree_contains_every_error_of_the_trainer() -> None:
    assert parents() == drawn()
