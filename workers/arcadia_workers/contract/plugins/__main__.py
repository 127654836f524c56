"""The command `arcadia plugins`: list, check, allow and create plug-ins."""

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from arcadia_workers.contract.layout import default_data_dir
from arcadia_workers.contract.plugins import trial
from arcadia_workers.contract.plugins.discovery import (
    BUILT_IN,
    FILE,
    SETTING,
    VERSION,
    allow,
    allowed_plugins,
    canonical,
    installed,
    read_file,
)
from arcadia_workers.contract.plugins.loading import NOT_INSTALLED, PLUGINS, LoadedPlugin
from arcadia_workers.contract.plugins.trial import find_problems, load_after_trial


def parser() -> argparse.ArgumentParser:
    """Return the argument parser."""
    parser = argparse.ArgumentParser(
        prog="arcadia plugins",
        description=f"Packages that add methods and environments. The interface arcadia.plugins has version {VERSION}.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="list the installed and the allowed packages")
    check = commands.add_parser("check", help="load a package in a separate process and report problems")
    check.add_argument("name", nargs="?", help="a package (default: all allowed packages)")
    allowing = commands.add_parser("allow", help="allow a package, after a check")
    allowing.add_argument("name", help="an installed package")
    for command in (listing, check, allowing):
        command.add_argument("--data", type=Path, help=f"the data folder (default: {default_data_dir()})")
    new = commands.add_parser("new", help="create a package from a template, with tests")
    new.add_argument("kind", choices=trial.KINDS)
    new.add_argument("name", help="name of the package, such as arcadia-gae")
    new.add_argument("--dir", type=Path, required=True, help="a new folder")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Return the exit status."""
    options = parser().parse_args(arguments)
    if options.command == "new":
        try:
            print(trial.create(options.kind, options.name, options.dir))
        except trial.ScaffoldError as error:
            print(f"arcadia plugins: {error}", file=sys.stderr)
            return 1
        return 0
    data_dir = options.data or Path(os.environ.get("ARCADIA_DATA_DIR") or default_data_dir())
    if options.command == "list":
        return show_list(allowed_plugins(data_dir))
    if options.command == "check":
        return check([canonical(options.name)] if options.name else allowed_plugins(data_dir))
    return allow_package(canonical(options.name), data_dir)


def show_list(allowed: Sequence[str]) -> int:
    """Print the installed and the allowed packages."""
    load_after_trial(allowed)
    packages = installed()
    for name in sorted({*packages, *allowed}):
        title = f"{name} {packages[name].version}" if name in packages else name
        print(f"{title}: {describe(PLUGINS.get(name))}")
    if not packages and not allowed:
        print("No package with entry points of plug-ins is installed.")
    return 0


def describe(plugin: LoadedPlugin | None) -> str:
    """Return the parts of a plug-in, or why it has none."""
    if plugin is None:
        return "not allowed"
    return plugin.problem or ", ".join(f"{noun} {key}" for noun, key in plugin.parts) or "papers"


def check(names: Sequence[str]) -> int:
    """Load packages, and test their environments and trainers if PyTorch is installed. Return 1 on problems."""
    problems = find_problems(names)
    working = [name for name in names if name not in problems]
    for name, problem in problems.items():
        print(f"{name}: {problem}")
    status = 1 if problems else 0
    if working and find_spec("torch"):
        trainer = [sys.executable, "-m", "arcadia_workers.trainer.plugins"]
        status |= subprocess.run(trainer, env={**os.environ, SETTING: ",".join(working)}, check=False).returncode
    elif working:
        print(f"{', '.join(working)}: usable. Environments and trainers were not tried, because PyTorch is missing.")
    return status


def allow_package(name: str, data_dir: Path) -> int:
    """Add a package to the file of the data folder if it works."""
    if name in BUILT_IN:
        print(f"{name} is part of Arcadia now. It needs no package: uninstall it with `pip uninstall {name}`.")
        return 0
    if problem := find_problems([name]).get(name):
        print(f"arcadia plugins: {name}: {problem}", file=sys.stderr)
        if problem == NOT_INSTALLED and (known := ", ".join(installed())):
            print(f"Installed packages with plug-ins: {known}", file=sys.stderr)
        return 1
    allow(name, data_dir)
    print(f"{(data_dir / FILE).resolve()} allows {', '.join(read_file(data_dir))}.")
    print(
        f"`arcadia up` reads this file at its start if its data folder is {data_dir.resolve()}. "
        "For another data folder, add `--data DIR` to this command."
    )
    if os.environ.get(SETTING):
        print(f"{SETTING} is set, so the file is not read. Add {name} to the setting.", file=sys.stderr)
    else:
        print(f"For backends and workers on other hosts, install the package there and set {SETTING}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
