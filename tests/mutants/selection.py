"""Choice of the tests that should notice a change of a module."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

# Folders of modules, with the folders of their tests. The last part of a source folder is the package.
SOURCES = {
    "backend/arcadia_backend": ("tests/backend", "tests"),
    "workers/arcadia_workers": ("tests/workers",),
    "client/arcadia": ("client/tests", "tests/client"),
}
# Tests that are not in the place of what they test.
ELSEWHERE = {
    "backend/arcadia_backend/web/": ("tests/accounts/test_*.py",),
    "client/arcadia/mcp_tools.py": ("tests/backend/web/test_mcp.py", "tests/client/test_mcp.py"),
    "client/arcadia/_async/": ("client/tests/test_*.py", "tests/client/test_*.py"),
    "workers/arcadia_workers/trainer/methods/": ("tests/workers/trainer/methods/test_*.py",),
    # PPO learns with the framework of PAAC.
    "workers/arcadia_workers/trainer/methods/paac/": ("tests/workers/trainer/methods/ppo/test_*.py",),
}
# A module that is loaded by its name, runs as a program or has a name replaced by a test.
MODULE = re.compile(r"arcadia(_backend|_workers)?(\.\w+)+")


class Selection:
    """Tests by the modules that they import."""

    def __init__(self, root: Path) -> None:
        self._root = root
        folders = [*SOURCES, "tests", "client/tests"]
        self._modules = {
            module_name(path.relative_to(root).as_posix()): path
            for folder in folders
            for path in sorted((root / folder).rglob("*.py"))
            if "_sync" not in path.parts
        }
        self._importers: dict[str, set[str]] = defaultdict(set)
        for name, path in self._modules.items():
            for imported in imported_names(path):
                # `from package import module` imports the module, `from module import name` its module.
                known = imported if imported in self._modules else imported.rpartition(".")[0]
                self._importers[known].add(name)

    def tests_of(self, file: str) -> list[str]:
        """Return the test files that import a module or are in its place, or else the nearest ones."""
        name = module_name(file)
        direct = sorted(
            self._file(self._modules[importer]) for importer in self._importers[name] if self._is_test(importer)
        )
        source = next(folder for folder in SOURCES if file.startswith(f"{folder}/"))
        place = Path(file).relative_to(source).with_suffix("")
        chosen = direct + self._in_place(source, place) + self._in_place(source, place.parent)
        for folder, patterns in ELSEWHERE.items():
            chosen += self._found(*patterns) if file.startswith(folder) else []
        chosen = chosen or sorted(self._file(self._modules[test]) for test in self._nearest(name))
        for package in place.parents:
            chosen = chosen or self._in_place(source, package)
        return list(dict.fromkeys(chosen))

    def _in_place(self, source: str, place: Path) -> list[str]:
        """Return the tests that are named like a module, or in a folder that is."""
        if place == Path():
            return []
        patterns = (f"{place}/test_*.py", f"{place.parent}/test_{place.name}*.py")
        return self._found(*(f"{folder}/{pattern}" for folder in SOURCES[source] for pattern in patterns))

    def _found(self, *patterns: str) -> list[str]:
        return [self._file(path) for pattern in patterns for path in sorted(self._root.glob(pattern))]

    def _nearest(self, name: str) -> set[str]:
        """Return the tests that import a module with the fewest modules in between."""
        seen, layer = {name}, {name}
        while layer:
            layer = {importer for module in layer for importer in self._importers[module]} - seen
            if tests := {each for each in layer if self._is_test(each)}:
                return tests
            seen |= layer
        return set()

    def _is_test(self, name: str) -> bool:
        return self._modules[name].name.startswith("test_")

    def _file(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix()


def module_name(file: str) -> str:
    """Return the name by which others import a file."""
    for source in SOURCES:
        file = file.removeprefix(source.rpartition("/")[0] + "/") if file.startswith(source) else file
    return file.removeprefix("client/tests/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@cache
def imported_names(path: Path) -> frozenset[str]:
    """Return what a module imports, as dotted names. The client's synchronous modules count as their sources."""
    names = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and MODULE.fullmatch(node.value):
            names.add(node.value)
    return frozenset(name.replace("._sync", "._async") for name in names)
