"""Mutations, the choice of their tests, and the list of equivalent ones."""

import tomllib
from pathlib import Path

import pytest

from tests.mutants.mutations import mutations_of
from tests.mutants.run import EQUIVALENT, ROOT, Copy, all_mutations
from tests.mutants.selection import SOURCES, Selection

FIRST, SECOND = SOURCES["backend/arcadia_backend"]


def changes(source: str) -> list[str]:
    """Return the lines that replace the one line of a source."""
    return [each.changed_lines(source.encode())[1] for each in mutations_of("a.py", source.encode())]


@pytest.mark.parametrize(
    ("line", "mutated"),
    [
        ("x = a < b", ["x = a <= b"]),
        ("x = a == b != c", ["x = a != b != c", "x = a == b == c"]),
        ("x = a in b", ["x = a not in b"]),
        ("x = a is not None", ["x = a is None"]),
        ("x = a and b and c", ["x = a or b or c"]),
        ("x = not (a or b) and c", ["x = not (a or b) or c", "x = (a or b) and c", "x = not (a and b) and c"]),
        ("x = 1", ["x = 2"]),
        ("x = True", ["x = False"]),
        ("x = [a + b, a // b]", ["x = [a - b, a // b]", "x = [a + b, a / b]"]),
        ("x -= a", ["x += a"]),
        ("save(a)", ["pass"]),
        ("x = save(a)", []),
        ("x = 'ä' + a", ["x = 'ä' - a"]),
        ("x = {\n    a: b - c,\n}", ["a: b + c,"]),
    ],
)
def test_a_line_has_these_mutations(line: str, mutated: list[str]) -> None:
    assert changes(line) == mutated


def test_statements_of_a_function_return_nothing_or_are_removed() -> None:
    body = ["    await g(a)", "    log.info(3)", "    if a:", "        return", "    return a"]
    assert changes("\n".join(["async def f(a: Literal[1]) -> Literal[2]:", *body])) == ["pass", "return None"]


@pytest.mark.parametrize(
    "source",
    [
        "LIMIT = 3",
        "FIRST, SECOND = 1, 2",
        "x: Literal[1]",
        "if TYPE_CHECKING:\n    from a import b\n    x = 1",
        "if __name__ == '__main__':\n    main()",
        "assert a > b",
        "x = f'{a + b}'",
        "'''Describe 1 + 1.'''",
    ],
)
def test_what_no_test_should_notice_is_not_mutated(source: str) -> None:
    assert changes(source) == []


def test_only_the_changed_bytes_are_replaced() -> None:
    source = "# Größe\nif a:\n    x = b > 'ß' and c\n"
    mutation = mutations_of("a.py", source.encode())[0]
    assert mutation.line == 3
    assert mutation.apply(source.encode()).decode() == source.replace("and", "or")


@pytest.mark.parametrize(
    ("module", "tests"),
    [
        ("runs/queries", [f"{FIRST}/runs/test_list.py", f"{FIRST}/runs/test_bulk.py"]),
        ("aliases", [f"{FIRST}/test_aliases.py"]),
        ("accounts/people", [f"{SECOND}/accounts/test_people.py"]),
        ("clock", [f"{FIRST}/runs/test_bulk.py"]),
        ("untrusted/parser", [f"{FIRST}/test_named.py"]),
        ("papers/a3c/table", [f"{FIRST}/papers/test_papers.py"]),
        ("web/sign_in", [f"{FIRST}/web/test_security.py", f"{SECOND}/accounts/test_people.py"]),
    ],
)
def test_tests_are_found_by_imports_or_by_their_place(tmp_path: Path, module: str, tests: list[str]) -> None:
    files = {
        "backend/arcadia_backend/runs/queries.py": "from arcadia_backend import clock",
        "backend/arcadia_backend/aliases.py": "",
        "backend/arcadia_backend/clock.py": "",
        "backend/arcadia_backend/accounts/people.py": "",
        "backend/arcadia_backend/untrusted/parser.py": "",
        "backend/arcadia_backend/papers/a3c/table.py": "",
        "backend/arcadia_backend/web/sign_in.py": "",
        "tests/backend/web/test_security.py": "",
        "tests/backend/runs/test_list.py": "from arcadia_backend.runs.queries import listed",
        "tests/backend/runs/test_bulk.py": "from arcadia_backend.clock import now",
        "tests/backend/test_aliases.py": "",
        "tests/backend/test_named.py": "PROGRAM = 'arcadia_backend.untrusted.parser'",
        "tests/backend/papers/test_papers.py": "",
        "tests/accounts/test_people.py": "",
    }
    for file, source in files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(source)
    assert Selection(tmp_path).tests_of(f"backend/arcadia_backend/{module}.py") == tests


def test_every_equivalent_mutation_exists_and_has_a_reason() -> None:
    for each in tomllib.loads(EQUIVALENT.read_text())["mutation"]:
        source = (ROOT / each["file"]).read_bytes()
        texts = {mutation.changed_lines(source) for mutation in mutations_of(each["file"], source)}
        assert (each["before"], each["after"]) in texts, each
        assert len(each["reason"]) > 10, each


@pytest.mark.nightly
def test_a_mutation_is_killed_in_a_copy_that_is_restored(tmp_path: Path) -> None:
    file = "client/arcadia/names.py"
    source = (ROOT / file).read_bytes()
    mutations = {each.changed_lines(source)[1]: each for each in all_mutations([file])}
    copy = Copy(tmp_path)
    tests = ["client/tests/test_names.py"]
    assert copy.try_mutation(mutations["return None"], tests) == "killed"
    assert (tmp_path / file).read_bytes() == source == (ROOT / file).read_bytes()
    (tmp_path / tests[0]).write_text("def test_nothing() -> None:\n    pass\n")
    assert copy.try_mutation(mutations["return None"], tests) == "survived"
    (tmp_path / tests[0]).write_text("def test_nothing() -> None:\n    assert False\n")
    assert copy.try_mutation(mutations["return None"], tests) == "undecided"
