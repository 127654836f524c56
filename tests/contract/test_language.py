"""Language of the code and the docs: American spelling, docstrings with verbs, unique class names, short sentences."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = ("backend", "workers")
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MAX_NOUN_FIRST_SHARE = 0.05
MAX_SENTENCE_WORDS = 30

NOT_A_VERB = re.compile(
    r"(The|A|An|What|Which|Who|Whether|How|When|Where|Each|Every|All|No|None|One|Its|Those|Whatever|Why|Nothing"
    r"|Anything|As|So)\b"
)
# Class names that two modules use on purpose, with the reason.
SHARED_NAMES = {
    "Preset": "the API schema of the contract's class",
    "Environment": "the API schema of the contract's class",
    "Track": "the API schema of the contract's class",
    "Network": "the program in agent files has its own, since it imports nothing of Arcadia",
}
# Spelling is American in names and in texts.
SPELLED_FOLDERS = ("alembic", "backend", "bench", "client", "docs", "frontend/src", "tests", "workers")
SPELLED_ENDINGS = {".css", ".csv", ".md", ".py", ".toml", ".ts", ".tsx"}
BRITISH = re.compile(
    r"colour|centred|centring|(?<![a-z])centre|(normal|initial|serial|priorit|vector|recogn|capital)is(?!m)|optimis(?!m|ti)"
    r"|catalogue|neighbour|behaviour|favour|(?<![a-z])grey(?!danus)|licence|analyse(?![a-z])|travell|modell|labell(?!edby)",
    re.IGNORECASE,
)
BRITISH_FILES = {
    "workers/arcadia_workers/contract/tracks.py": "it translates files of earlier versions",
    "tests/workers/trainer/test_earlier_checkpoints.py": "it tests this translation",
    "workers/arcadia_workers/trainer/methods/gorila/gorila.py": "it quotes the paper's algorithm",
    "tests/contract/test_language.py": "it has the list",
}


def sources() -> Iterator[tuple[Path, ast.Module]]:
    """Yield every module of the backend and the workers with its path in the project."""
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT), ast.parse(path.read_text())


def package_of(path: Path) -> str:
    """Return the package that a module is counted for: two levels at most."""
    parts = path.parts[1:]
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def is_property(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(decorator, ast.Name) and "property" in decorator.id for decorator in function.decorator_list)


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield the package and the docstring of every function that has one."""
    for path, tree in sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_property(node):
                docstring = ast.get_docstring(node)
                if docstring:
                    yield package_of(path), f"{path}:{node.lineno} {docstring.splitlines()[0]}"


def test_function_docstrings_start_with_a_verb() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    counts: dict[str, int] = defaultdict(int)
    for package, docstring in docstrings():
        counts[package] += 1
        if NOT_A_VERB.match(docstring.split(" ", 1)[1]):
            found[package].append(docstring)
    assert sum(counts.values()) > 1000
    assert {p: lines for p, lines in found.items() if len(lines) > MAX_NOUN_FIRST_SHARE * counts[p]} == {}


def is_table_and_schema(paths: list[Path]) -> bool:
    """Return True for a table and the API schema of the same noun."""
    tables = [path for path in paths if path.parts[:4] == ("backend", "arcadia_backend", "database", "tables")]
    return len(paths) == 2 and len(tables) == 1 and all(path.parts[0] == "backend" for path in paths)


def test_a_class_name_has_one_meaning() -> None:
    places: dict[str, list[Path]] = defaultdict(list)
    for path, tree in sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path)
    assert len(places) > 300
    shared = {name: paths for name, paths in places.items() if len(paths) > 1 and not is_table_and_schema(paths)}
    assert {name: list(map(str, paths)) for name, paths in shared.items() if name not in SHARED_NAMES} == {}
    assert SHARED_NAMES.keys() <= shared.keys()


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a Markdown text, without code, tables and headings."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    text = re.sub(r"^( {4}|\||#).*$", "", text, flags=re.MULTILINE)
    yield from re.split(r"(?<=[.!?])\s+", " ".join(text.split()))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_sentences_are_short(document: Path) -> None:
    long = [sentence for sentence in sentences(document.read_text()) if len(sentence.split()) > MAX_SENTENCE_WORDS]
    assert long == []


def test_a_long_sentence_is_found() -> None:
    assert max(len(sentence.split()) for sentence in sentences("One. " + "word " * 31 + "end. Two.")) == 32


def test_spelling_is_american() -> None:
    paths = [*ROOT.glob("*.md"), *(path for folder in SPELLED_FOLDERS for path in (ROOT / folder).rglob("*"))]
    texts = {str(path.relative_to(ROOT)): path.read_text() for path in paths if path.suffix in SPELLED_ENDINGS}
    found = {name: {match[0] for match in BRITISH.finditer(name + text)} for name, text in texts.items()}
    assert len(found) > 1000
    assert {name: words for name, words in found.items() if words and name not in BRITISH_FILES} == {}
    assert [name for name in BRITISH_FILES if not found[name]] == []
