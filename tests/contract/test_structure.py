"""Structure of the code: no import cycles, few top-level modules, short modules and functions."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.conftest import BOTH_DATABASES

ROOT = Path(__file__).parents[2]
CODE = ("backend", "workers", "client/arcadia")
GENERATED = ROOT / "client/arcadia/_sync"
MAX_MODULES = {"backend/arcadia_backend": 33, "workers/arcadia_workers/trainer": 12}
MAX_MODULE_LINES, MAX_FUNCTION_LINES = 600, 60

Graph = dict[str, set[str]]


def sources() -> Iterator[Path]:
    """Yield every module of the backend, the workers and the client that is written by hand."""
    for folder in CODE:
        yield from (path for path in (ROOT / folder).rglob("*.py") if GENERATED not in path.parents)


def name_of(path: Path) -> tuple[str, ...]:
    """Return the parts of a module's dotted name, ending in __init__ for a package."""
    return path.relative_to(ROOT).with_suffix("").parts[1:]


@cache
def modules() -> dict[tuple[str, ...], ast.Module]:
    """Parse every module."""
    return {name_of(path): ast.parse(path.read_text()) for path in sources()}


def imported(tree: ast.Module) -> Iterator[tuple[str, ...]]:
    """Yield the project's modules that a module imports, including imports in functions and for types."""
    for node in ast.walk(tree):
        names: Iterable[str] = ()
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports here are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            parts = tuple(name.split("."))
            found = next((known for known in (parts, (*parts, "__init__")) if known in modules()), None)
            # If it is not a module, it is a name inside one.
            found = found or next((k for k in (parts[:-1], (*parts[:-1], "__init__")) if k in modules()), None)
            if found:
                yield found


def arrows() -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield each import as a pair of modules."""
    for module, tree in modules().items():
        yield from ((module, other) for other in imported(tree) if other != module)


def package_graphs() -> dict[str, Graph]:
    """Return the import graph of each package, between its modules and subpackages.

    The interface for plug-ins belongs to the client, and shows them the server's packages.
    """
    found: dict[str, Graph] = {}
    for module, other in arrows():
        if module[:2] == ("arcadia", "plugins"):
            continue
        shared = next(i for i, (a, b) in enumerate(zip(module, other, strict=False)) if a != b)
        graph = found.setdefault(".".join(module[:shared]), {})
        graph.setdefault(module[shared], set()).add(other[shared])
    return found


def cycle_in(graph: Graph) -> list[str]:
    """Return a cycle of a graph, or an empty list."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_modules_have_no_import_cycle() -> None:
    graph: Graph = {}
    for module, other in arrows():
        graph.setdefault(".".join(module), set()).add(".".join(other))
    assert len(graph) > 100
    assert cycle_in(graph) == []


def test_packages_have_no_import_cycle() -> None:
    graphs = package_graphs()
    assert {"arcadia_backend", "arcadia_workers.trainer", "arcadia"} < graphs.keys()
    assert {package: found for package, graph in graphs.items() if (found := cycle_in(graph))} == {}


@pytest.mark.parametrize("package", MAX_MODULES)
def test_few_modules_are_directly_in_a_package(package: str) -> None:
    direct = list((ROOT / package).glob("*.py"))
    assert 0 < len(direct) <= MAX_MODULES[package], sorted(path.name for path in direct)


# How intervals are computed: quantiles of distributions, and draws with replacement.
STATISTICAL = ("NormalDist", "student_quantile", "bootstrap(", "1.96", "scipy", "resample(")


def test_intervals_are_computed_in_one_package() -> None:
    package = ROOT / "workers/arcadia_workers/contract/inference"
    assert all(any(word in path.read_text() for path in package.glob("*.py")) for word in STATISTICAL[:2])
    found = {
        str(path.relative_to(ROOT)): words
        for path in sources()
        if package not in path.parents
        and any(word in path.read_text() for word in STATISTICAL)
        and (words := [word for word in STATISTICAL if word in _code_of(path)])
    }
    assert found == {}


def _code_of(path: Path) -> str:
    """Return a module without its comments and docstrings."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the lines of a function without its docstring and decorators."""
    first, last = function.lineno, function.end_lineno or function.lineno
    start = function.body[0]
    documented = ast.get_docstring(function) is not None
    docstring = (start.end_lineno or start.lineno) - start.lineno + 1 if documented else 0
    return last - first + 1 - docstring


def test_modules_stay_short() -> None:
    lines = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in sources()}
    assert {path: count for path, count in lines.items() if count > MAX_MODULE_LINES} == {}


def test_functions_stay_short() -> None:
    lengths = {
        f"{'.'.join(module)}.{node.name}": length(node)
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {function: lines for function, lines in lengths.items() if lines > MAX_FUNCTION_LINES} == {}


@pytest.mark.parametrize("place", BOTH_DATABASES)
def test_tests_that_use_both_databases_exist(place: str) -> None:
    file, _, name = place.partition("::")
    found = list((ROOT / "tests").glob(f"{file}*"))
    assert found
    assert not name or f"def {name}" in found[0].read_text()
