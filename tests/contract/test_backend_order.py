"""Imports between the backend's parts: they follow the order in its docstring, without cycles."""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import arcadia_backend

ROOT = Path(__file__).parents[2]
ORDER = [
    [name.strip() for name in line.split(",")]
    for line in (arcadia_backend.__doc__ or "").splitlines()
    if line.startswith("    ")
]
RANKS = {name: rank for rank, line in enumerate(ORDER) for name in line}


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT / "backend").with_suffix("").parts).removesuffix(".__init__")


def imported(tree: ast.AST, modules: set[str]) -> Iterator[str]:
    """Yield the modules that a source imports, also in functions. For a module of a package, omit the package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                if name in modules or node.module in modules:
                    yield name if name in modules else str(node.module)


def graph() -> dict[str, set[str]]:
    """Return the imports of every module of the backend."""
    paths = {module_of(path): path for path in (ROOT / "backend").rglob("*.py")}
    return {name: set(imported(ast.parse(path.read_text()), set(paths))) for name, path in paths.items()}


def part_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def upward(imports: Mapping[str, set[str]]) -> list[str]:
    """Return the imports of parts that are not below the importing part."""
    return [
        f"{module} imports {other}"
        for module, others in sorted(imports.items())
        for other in sorted(others)
        if part_of(module) != part_of(other) and RANKS[part_of(module)] <= RANKS[part_of(other)]
    ]


def circle(imports: Mapping[str, set[str]]) -> list[str]:
    """Return the modules of a circular import, or an empty list."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def test_the_order_names_every_part_once() -> None:
    named = [name for line in ORDER for name in line]
    assert sorted(named) == sorted({part_of(module) for module in graph()} - {""})


def test_a_part_imports_only_parts_below_it() -> None:
    assert upward(graph()) == []


def test_modules_have_no_circular_imports() -> None:
    assert circle(graph()) == []


@pytest.mark.parametrize(
    "source",
    [
        "from arcadia_backend.runs.queries import to_schemas",
        "def late():\n    from arcadia_backend.runs import queries",
    ],
)
def test_an_import_against_the_order_is_found(source: str) -> None:
    found = set(imported(ast.parse(source), {"arcadia_backend.runs", "arcadia_backend.runs.queries"}))
    assert upward({"arcadia_backend.files.service": found}) == [
        "arcadia_backend.files.service imports arcadia_backend.runs.queries"
    ]


def test_a_circular_import_inside_a_part_is_found() -> None:
    queries, states = "arcadia_backend.runs.queries", "arcadia_backend.runs.states"
    assert set(circle({queries: {states}, states: {queries}})) == {queries, states}
