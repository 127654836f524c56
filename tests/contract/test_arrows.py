"""Import rules between the parts of the project, checked in the source."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONTRACT, WORKER, TRAINER = "arcadia_workers.contract", "arcadia_workers.worker", "arcadia_workers.trainer"
# The client's collectors use only the standard library.
CLIENT, COLLECTORS = "arcadia", "arcadia.reporting.provenance"
# safetensors itself does not need torch.
HEAVY = ("torch", "gymnasium", "ale_py", "av", "safetensors.torch")
# A program in agent files, which runs outside of Arcadia. No module imports it.
PLAYER = ROOT / "workers/arcadia_workers/contract/agents/play.py"
SERVICES = ("fastapi", "sqlalchemy", "celery", "redis", "httpx", "alembic", "psycopg")


def imports(path: Path) -> Iterator[str]:
    """Yield every module that a file imports, including modules imported with `from arcadia_workers import`."""
    package = path.relative_to(ROOT).with_suffix("").parts[1:]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = ".".join((*package[: len(package) - node.level], node.module or "")) if node.level else node.module
            assert origin is not None
            yield origin
            if origin == "arcadia_workers":
                yield from (f"{origin}.{alias.name}" for alias in node.names)


def files(*folders: str) -> list[Path]:
    """Return the Python files below some folders."""
    found = [path for folder in folders for path in (ROOT / folder).rglob("*.py") if path != PLAYER]
    assert found
    return found


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def wrong(paths: list[Path], forbidden: tuple[str, ...], allowed: tuple[str, ...] = ()) -> list[str]:
    return [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in paths
        for name in imports(path)
        if within(name, *forbidden) and not within(name, *allowed) and name != "arcadia_workers"
    ]


def test_the_backend_imports_only_the_contract() -> None:
    assert wrong(files("backend"), ("arcadia_workers", *HEAVY), (CONTRACT,)) == []


def test_the_worker_imports_only_itself_and_the_contract() -> None:
    assert (
        wrong(
            files("workers/arcadia_workers/worker"),
            ("arcadia_backend", "arcadia_workers", *HEAVY, "sqlalchemy", "fastapi"),
            (CONTRACT, WORKER),
        )
        == []
    )


def test_the_trainer_imports_only_itself_the_contract_and_the_collectors() -> None:
    allowed = (CONTRACT, TRAINER, COLLECTORS)
    assert (
        wrong(
            files("workers/arcadia_workers/trainer"), ("arcadia_backend", "arcadia_workers", CLIENT, *SERVICES), allowed
        )
        == []
    )


def test_the_contract_imports_no_other_part_and_no_heavy_library() -> None:
    assert (
        wrong(
            files("workers/arcadia_workers/contract"),
            ("arcadia_backend", "arcadia_workers", *HEAVY, *SERVICES),
            (CONTRACT,),
        )
        == []
    )


def test_nothing_imports_the_player_of_agent_files() -> None:
    assert wrong(files("backend", "workers"), ("arcadia_workers.contract.agents.play",)) == []
