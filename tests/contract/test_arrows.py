"""Which part may import which, read from the source."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OURS = ("backend", "workers")
TRAINER = "workers.trainer"
# Free of torch, and the only things of the workers that the backend may know.
SHARED = (f"{TRAINER}.config", f"{TRAINER}.events", f"{TRAINER}.games", f"{TRAINER}.presets")
HEAVY = ("torch", "gymnasium", "ale_py", "av", "safetensors")
SERVICES = ("fastapi", "sqlalchemy", "celery", "redis", "httpx", "alembic", "psycopg")


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, with the names it takes from packages of ours."""
    package = path.relative_to(ROOT).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = ".".join((*package[: len(package) - node.level], node.module or "")) if node.level else node.module
            assert origin is not None
            yield origin
            if origin in OURS or origin == TRAINER:
                yield from (f"{origin}.{alias.name}" for alias in node.names)


def files(*folders: str, without: str = "-") -> list[Path]:
    """Python files below some folders."""
    found = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    return [path for path in found if not path.is_relative_to(ROOT / without)]


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def wrong(paths: list[Path], forbidden: tuple[str, ...], allowed: tuple[str, ...] = ()) -> list[str]:
    return [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in paths
        for name in imports(path)
        if within(name, *forbidden) and not within(name, *allowed) and name not in (TRAINER, "workers")
    ]


def test_the_backend_knows_only_the_configuration_and_the_events() -> None:
    assert wrong(files("backend"), ("workers", *HEAVY), SHARED) == []


def test_workers_know_the_backend_by_its_api_alone() -> None:
    paths = files("workers", without="workers/trainer")
    assert paths
    assert wrong(paths, ("backend", *HEAVY, "sqlalchemy", "fastapi")) == []


def test_the_trainer_knows_nothing_but_itself() -> None:
    paths = files("workers/trainer")
    assert paths
    assert wrong(paths, ("backend", "workers", *SERVICES), (TRAINER,)) == []


@pytest.mark.parametrize("name", SHARED)
def test_what_is_shared_is_free_of_heavy_libraries(name: str) -> None:
    place = ROOT / name.replace(".", "/")
    paths = files(name.replace(".", "/")) if place.is_dir() else [place.with_suffix(".py")]
    assert paths
    assert wrong(paths, (*HEAVY, *SERVICES, "backend")) == []
    reached = {each for path in paths for each in imports(path) if within(each, *OURS) and each != TRAINER}
    assert all(within(each, *SHARED) for each in reached), "nor does it reach them through others"
