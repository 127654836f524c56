"""The shape of the code: no import goes in a circle, rooms stay small, modules and functions stay short."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from math import ceil
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = ("backend", "workers")
MOST_MODULES_OF_THE_TRAINER = 10
MODULE_LINES, FUNCTION_LINES = 200, 18

Graph = dict[str, set[str]]


def name_of(path: Path) -> tuple[str, ...]:
    """The parts of a module's dotted name; a package's own module is its __init__."""
    return path.relative_to(ROOT).with_suffix("").parts


@cache
def modules() -> dict[tuple[str, ...], ast.Module]:
    """Every module of ours."""
    return {name_of(path): ast.parse(path.read_text()) for folder in CODE for path in (ROOT / folder).rglob("*.py")}


def imported(tree: ast.Module) -> Iterator[tuple[str, ...]]:
    """The modules of ours that a module imports, at its top, in a function or for types alone."""
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
            # What is no module is a name within one.
            found = found or next((k for k in (parts[:-1], (*parts[:-1], "__init__")) if k in modules()), None)
            if found:
                yield found


def arrows() -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Who imports whom."""
    for module, tree in modules().items():
        yield from ((module, other) for other in imported(tree) if other != module)


def rooms() -> dict[str, Graph]:
    """For each package, how what lies directly in it depends on each other: modules, and packages as a whole."""
    found: dict[str, Graph] = {}
    for module, other in arrows():
        shared = next(i for i, (a, b) in enumerate(zip(module, other, strict=False)) if a != b)
        graph = found.setdefault(".".join(module[:shared]), {})
        graph.setdefault(module[shared], set()).add(other[shared])
    return found


def circle(graph: Graph) -> list[str]:
    """One circle of a graph, if it has any."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_import_goes_in_a_circle_between_modules() -> None:
    graph: Graph = {}
    for module, other in arrows():
        graph.setdefault(".".join(module), set()).add(".".join(other))
    assert len(graph) > 100
    assert circle(graph) == []


def test_no_import_goes_in_a_circle_between_packages() -> None:
    graphs = rooms()
    assert {"backend", "workers.trainer"} < graphs.keys()
    assert {package: found for package, graph in graphs.items() if (found := circle(graph))} == {}


def test_few_modules_lie_directly_in_the_trainer() -> None:
    direct = list((ROOT / "workers" / "trainer").glob("*.py"))
    assert 0 < len(direct) <= MOST_MODULES_OF_THE_TRAINER, sorted(path.name for path in direct)


def percentile_90(values: list[int]) -> int:
    """The value that nine of ten do not exceed."""
    return sorted(values)[ceil(0.9 * len(values)) - 1]


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring and decorators."""
    first, last = function.lineno, function.end_lineno or function.lineno
    begun = function.body[0]
    documented = ast.get_docstring(function) is not None
    docstring = (begun.end_lineno or begun.lineno) - begun.lineno + 1 if documented else 0
    return last - first + 1 - docstring


def test_modules_stay_short() -> None:
    lines = [len(path.read_text().splitlines()) for folder in CODE for path in (ROOT / folder).rglob("*.py")]
    assert percentile_90([count for count in lines if count]) <= MODULE_LINES


def test_functions_stay_short() -> None:
    functions = [
        node
        for tree in modules().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert percentile_90([length(function) for function in functions]) <= FUNCTION_LINES
