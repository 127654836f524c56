"""List of the installed Python packages."""

from __future__ import annotations

import re
from importlib import metadata

_NAME = re.compile(r"^Name: *(.+?)\s*$", re.MULTILINE)
_VERSION = re.compile(r"^Version: *(.+?)\s*$", re.MULTILINE)


def installed_packages() -> dict[str, str]:
    """Return the version of each package that Python can import, by name.

    Only the head of the metadata is read. Parsing all of it takes ten times as long, in which no other thread runs.
    """
    found: dict[str, str] = {}
    for distribution in metadata.distributions():
        text = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
        head = text.partition("\n\n")[0]
        name, version = _NAME.search(head), _VERSION.search(head)
        if name and version:  # the remains of a package that was removed have neither
            found.setdefault(name[1], version[1])  # the first one on the path is imported
    return dict(sorted(found.items(), key=lambda package: package[0].lower()))
