"""The program `arcadia worker-bundle`: packs the installed worker and its dependencies into one file."""

import argparse
import hashlib
import json
import re
import sys
import sysconfig
import zipfile
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import arcadia
from packaging.requirements import Requirement

import arcadia_workers
from arcadia_workers.contract import build
from arcadia_workers.worker.bundle import start

# What Arcadia's own distribution names its dependencies on the host of a worker.
EXTRAS = ("worker", "trainer")
# Trainers use its description of their host.
CLIENT = "arcadia-client"
SHEBANG = b"#!/usr/bin/env python3\n"
# Higher levels take minutes, and save a few percent.
COMPRESSION = 1


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    text = "Pack the worker and its dependencies into one file, for hosts that cannot install packages."
    parser = argparse.ArgumentParser(prog="arcadia worker-bundle", description=text)
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="the file to write")
    return parser.parse_args(arguments)


def needed_distributions() -> dict[str, Distribution]:
    """Return the installed distributions that a worker needs, by normalized name."""
    found: dict[str, Distribution] = {}
    server = distribution("arcadia")
    waiting = [Requirement(CLIENT), *_requirements(server, EXTRAS, only_extras=True)]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        required = waiting.pop()
        name = re.sub(r"[-_.]+", "-", required.name).lower()
        if (key := (name, frozenset(required.extras))) in seen:
            continue
        seen.add(key)
        try:
            found[name] = distribution(required.name)
        except PackageNotFoundError:
            sys.exit(f"arcadia worker-bundle: {required.name} is not installed here. Install the worker first.")
        waiting += _requirements(found[name], tuple(required.extras))
    return {**found, "arcadia": server}


def _requirements(of: Distribution, extras: Sequence[str], *, only_extras: bool = False) -> Iterator[Requirement]:
    """Yield what a distribution needs here, or only what its extras add."""
    for text in of.requires or []:
        required = Requirement(text)
        is_always = required.marker is None or required.marker.evaluate({"extra": ""})
        if not (is_always and only_extras) and (
            is_always or any(required.marker and required.marker.evaluate({"extra": extra}) for extra in extras)
        ):
            yield required


def packed_files(distributions: dict[str, Distribution]) -> Iterator[tuple[str, Path]]:
    """Yield the files of the packages, with their paths below the folder of packages."""
    for name, each in sorted(distributions.items()):
        for file in each.files or []:
            is_metadata = ".dist-info" in file.parts[0]
            # An editable installation of Arcadia lists no modules, so they are added below.
            is_ours = name in ("arcadia", CLIENT) and not is_metadata
            if file.parts[0] != ".." and file.suffix not in (".pyc", ".pth") and not is_ours:
                path = Path(str(each.locate_file(file)))
                if path.is_file():
                    yield file.as_posix(), path
    for package in (arcadia, arcadia_workers):
        ours = Path(str(package.__file__)).parent
        for path in sorted(ours.rglob("*")):
            if path.is_file() and path.suffix != ".pyc" and path.name != build.COMMIT_FILE:
                yield f"{ours.name}/{path.relative_to(ours).as_posix()}", path


def write(output: Path) -> None:
    """Write the bundle. An interrupted call leaves no file."""
    part = output.with_name(f"{output.name}.part")
    identity = hashlib.sha256()
    try:
        with part.open("wb") as file:
            file.write(SHEBANG)
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION) as bundle:
                bundle.write(start.__file__, "__main__.py")
                commit = f"{start.PACKAGES}/arcadia_workers/contract/{build.COMMIT_FILE}"
                bundle.writestr(commit, build.commit())
                for name, path in packed_files(needed_distributions()):
                    bundle.write(path, f"{start.PACKAGES}/{name}")
                    info = bundle.getinfo(f"{start.PACKAGES}/{name}")
                    identity.update(f"{name} {info.CRC} {info.file_size}\n".encode())
                facts = {
                    "id": identity.hexdigest()[:16],
                    "python": f"{sys.version_info[0]}.{sys.version_info[1]}",
                    "platform": sysconfig.get_platform(),
                    "build": build.build(),
                }
                bundle.writestr(start.FACTS, json.dumps(facts))
        part.chmod(0o755)
        part.replace(output)
    finally:
        part.unlink(missing_ok=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program."""
    output = parse_arguments(arguments).output
    try:
        write(output)
    except OSError as error:
        print(f"arcadia worker-bundle: {output} could not be written: {error}", file=sys.stderr)
        return 1
    print(
        f"{output} has {output.stat().st_size / 1e6:,.0f} MB. Hosts need Python {sys.version_info[0]}."
        f"{sys.version_info[1]} on {sysconfig.get_platform()}."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
