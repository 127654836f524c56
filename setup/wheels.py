"""Build the wheels. The first argument says which.

client        the wheel of the client, in client/dist
dependencies  the wheels of the packages that the client needs, downloaded in the locked versions to client/dist
application   the wheel of the application, which contains those, in dist beside the client's
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
CLIENT = ROOT / "client"
WHEELS = CLIENT / "dist"
OWN = "arcadia_client-*.whl"
# The second one has what only some platforms and versions of Python need.
LOCKS = (ROOT / "requirements.lock", CLIENT / "platforms.lock")
PLATFORMS: tuple[dict[str, str], ...] = (
    {"python_version": "3.10", "python_full_version": "3.10.0", "platform_system": "Linux", "sys_platform": "linux"},
    {"python_version": "3.13", "python_full_version": "3.13.0", "platform_system": "Windows", "sys_platform": "win32"},
)
# Wheels with compiled parts would serve one platform only. pip fails if a package has no other.
ANY_PLATFORM = "--python-version 3.10 --implementation py --abi none --platform any --only-binary=:all:".split()
# The earliest time that a wheel can contain, so that equal sources make equal wheels.
SOURCE_DATE_EPOCH = "315532800"


def pip(command: str, *arguments: str) -> None:
    """Run pip."""
    options = ["--quiet", "--no-input", "--disable-pip-version-check", "--no-deps"]
    environment = os.environ | {"SOURCE_DATE_EPOCH": SOURCE_DATE_EPOCH}
    subprocess.run([sys.executable, "-m", "pip", command, *options, *arguments], check=True, env=environment)


def build_wheel(project: Path, folder: Path) -> None:
    """Build a wheel without network access. Files of earlier builds must not get into it."""
    shutil.rmtree(project / "build", ignore_errors=True)
    pip("wheel", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder), str(project))
    shutil.rmtree(project / "build", ignore_errors=True)


def needed_packages() -> set[str]:
    """Return the packages that the client needs on any platform, as the installed packages name them."""
    found: set[str] = set()
    waiting = ["arcadia-client"]
    while waiting:
        new = {name for name in needs_of(waiting.pop()) if name not in found}
        found |= new
        waiting += new
    return found


def needs_of(package: str) -> Iterator[str]:
    """Yield the packages that a package needs on any platform."""
    try:
        lines = requires(package) or []
    except PackageNotFoundError:  # needed on other platforms only
        return
    for requirement in map(Requirement, lines):
        marker = requirement.marker
        if marker is None or any(marker.evaluate({**platform, "extra": ""}) for platform in PLATFORMS):
            yield canonicalize_name(requirement.name)


def locked_lines() -> dict[str, str]:
    """Return the lines of each locked package, with its hashes."""
    blocks = [block for lock in LOCKS for block in re.split(r"^(?=[A-Za-z])", lock.read_text(), flags=re.MULTILINE)]
    return {canonicalize_name(block.partition("==")[0]): block for block in blocks if block[:1].isalpha()}


def build_client() -> None:
    """Replace the client's wheel."""
    WHEELS.mkdir(exist_ok=True)
    for old in WHEELS.glob(OWN):
        old.unlink()
    build_wheel(CLIENT, WHEELS)


def download_dependencies(*options: str) -> None:
    """Replace the wheels of the packages that the client needs. The options are for pip."""
    WHEELS.mkdir(exist_ok=True)
    for old in set(WHEELS.glob("*.whl")) - set(WHEELS.glob(OWN)):
        old.unlink()
    lines = locked_lines()
    # The lines name their markers, which would leave out packages of other platforms.
    wanted = [re.sub(r" ?;[^\\\n]*", " ", lines[name], count=1) for name in sorted(needed_packages())]
    requirements = WHEELS / ".requirements"
    requirements.write_text("".join(wanted))
    pip(
        "download",
        *ANY_PLATFORM,
        "--require-hashes",
        "--dest",
        str(WHEELS),
        "--requirement",
        str(requirements),
        *options,
    )


def build_application() -> None:
    """Replace both wheels in dist."""
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    build_wheel(ROOT, ROOT / "dist")
    for client in WHEELS.glob(OWN):
        shutil.copy(client, ROOT / "dist")


COMMANDS: dict[str, Callable[..., None]] = {
    "client": build_client,
    "dependencies": download_dependencies,
    "application": build_application,
}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
