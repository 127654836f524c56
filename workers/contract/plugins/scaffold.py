"""New packages from the templates in the folder `templates`."""

import re
from pathlib import Path
from string import Template
from typing import Literal, get_args

from workers.contract.plugins.interface import VERSION

Kind = Literal["environment", "method"]
KINDS: tuple[Kind, ...] = get_args(Kind)
TEMPLATES = Path(__file__).with_name("templates")
SUFFIX = ".template"
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
PREFIX = "arcadia-"


class ScaffoldError(Exception):
    """The package cannot be created. The message says why."""


def create(kind: Kind, name: str, folder: Path) -> str:
    """Create a package in a new folder. Return what to do next."""
    if not NAME.fullmatch(name):
        raise ScaffoldError(f"{name!r} is not a name for a package. Use lower-case words with dashes, such as my-maze.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ScaffoldError(f"{folder} exists and is not empty. Choose a new folder.")
    short = name.removeprefix(PREFIX)
    words = {
        "name": name,
        "package": name.replace("-", "_"),
        "short": short,
        "algorithm": short.replace("-", "_"),
        "title": short.replace("-", " ").capitalize(),
        "type": "".join(word.capitalize() for word in short.split("-")),
        "version": str(VERSION),
    }
    source = TEMPLATES / kind
    for template in sorted(source.rglob(f"*{SUFFIX}")):
        relative = str(template.relative_to(source)).removesuffix(SUFFIX).replace("PACKAGE", words["package"])
        target = folder / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(Template(template.read_text()).substitute(words))
    return f"""Created {folder}. Install it, run its tests, and allow it:
  pip install -e {folder}
  pytest {folder}
  arcadia plugins allow {name}"""
