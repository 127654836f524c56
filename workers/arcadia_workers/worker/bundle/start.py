"""The start of a bundle, which is its `__main__.py`: unpack it once on each host, and start the worker.

It uses only the standard library, and runs in older versions of Python too, to say that they are too old.
"""

import json
import os
import shutil
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

FACTS = "bundle.json"
PACKAGES = "packages"
# A folder with room for the packages, instead of the one for temporary files.
FOLDER = "ARCADIA_BUNDLE_DIR"


def main(bundle: str) -> None:
    """Replace this process by the worker."""
    with zipfile.ZipFile(bundle) as opened:
        facts = json.loads(opened.read(FACTS).decode())
        needed = f"Python {facts['python']} on {facts['platform']}"
        here = f"Python {sys.version_info[0]}.{sys.version_info[1]} on {sysconfig.get_platform()}"
        if needed != here:
            sys.exit(f"This bundle needs {needed}, and this is {here}.")
        packages = unpack(opened, facts["id"])
    os.environ.update(PYTHONPATH=str(packages), PYTHONSAFEPATH="1", PYTHONNOUSERSITE="1")
    arguments = sys.argv[2:] if sys.argv[1:2] == ["worker"] else sys.argv[1:]
    os.execv(sys.executable, [sys.executable, "-m", "arcadia_workers.worker", *arguments])  # noqa: S606 - no shell


def unpack(opened: zipfile.ZipFile, identity: str) -> Path:
    """Return the folder with the packages. The first start on a host unpacks them."""
    parent = Path(os.environ.pop(FOLDER, "") or tempfile.gettempdir())
    folder = parent / f"arcadia-bundle-{os.getuid()}-{identity}"
    if not folder.is_dir():
        try:
            _unpack_into(opened, parent, folder)
        except OSError as error:
            # Another job on this host may have been faster.
            if not folder.is_dir():
                sys.exit(f"The bundle cannot be unpacked in {parent} ({error}). Set {FOLDER} to another folder.")
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        sys.exit(f"{folder} belongs to somebody else. Set {FOLDER} to another folder.")
    return folder


def _unpack_into(opened: zipfile.ZipFile, parent: Path, folder: Path) -> None:
    parent.mkdir(parents=True, exist_ok=True)
    part = tempfile.mkdtemp(prefix=".arcadia-bundle-", dir=str(parent))
    try:
        for info in opened.infolist():
            if info.filename.startswith(f"{PACKAGES}/"):
                # Ray starts programs of its package.
                Path(opened.extract(info, part)).chmod((info.external_attr >> 16) & 0o777 | 0o600)
        (Path(part) / PACKAGES).rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


if __name__ == "__main__":
    main(sys.path[0])
