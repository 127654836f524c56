"""Import of the allowed packages, and registration of their parts."""

import contextlib
import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint
from typing import Any

from workers.contract.plugins.allowed import SETTING
from workers.contract.plugins.discovery import allowed_names, installed
from workers.contract.plugins.groups import GROUPS, Group
from workers.contract.plugins.interface import VERSION, Plugin

NOT_INSTALLED = "It is not installed."
# Characters that a package may print while it is imported.
MAX_OUTPUT = 1_000_000
TOO_MUCH_OUTPUT = f"It printed more than {MAX_OUTPUT // 1_000_000} MB when it was imported."


@dataclass(frozen=True)
class LoadedPlugin:
    """An allowed package, and the result of loading it in this process."""

    name: str
    # None if it is not installed.
    version: str | None
    # Why none of its parts is available.
    problem: str | None = None
    # What it has added, such as ("method", "ppo").
    parts: tuple[tuple[str, str], ...] = ()


class PluginError(Exception):
    """A package cannot be used. The message says why."""


# The allowed packages of this process by name.
PLUGINS: dict[str, LoadedPlugin] = {}
# The package of each part that is not built in.
PROVIDERS: dict[tuple[str, str], str] = {}


def load(
    names: Sequence[str], groups: Sequence[Group] = GROUPS, begin: Callable[[str], None] = lambda _name: None
) -> None:
    """Import packages and register their parts. A faulty package gets a problem and adds nothing.

    `begin` receives the name of each package before it is imported.
    """
    new = [name for name in names if name not in PLUGINS or PLUGINS[name].problem]
    if not new:
        return  # before the search for packages, which reads a file of every installed one
    packages = installed()
    for name in new:
        package = packages.get(name)
        PLUGINS[name] = LoadedPlugin(name, package.version if package else None, None if package else NOT_INSTALLED)
    for group in groups:
        for name in new:
            if PLUGINS[name].problem is None:
                begin(name)
                points = [point for point in packages[name].entry_points if point.group == group.name]
                try:
                    _add(name, group, points)
                except PluginError as error:
                    version = PLUGINS[name].version
                    unload(name, groups)
                    PLUGINS[name] = LoadedPlugin(name, version, str(error))


def load_named_in_environment() -> None:
    """Load the packages that the parent process has checked, in a trainer or one of its processes."""
    load(allowed_names(os.environ.get(SETTING, "")))


def unload(name: str, groups: Sequence[Group] = GROUPS) -> None:
    """Remove the parts of a package from the registries."""
    by_noun = {group.noun: group for group in groups}
    for noun, key in PLUGINS.pop(name).parts if name in PLUGINS else ():
        by_noun[noun].remove(key)
        del PROVIDERS[noun, key]


def loaded_versions() -> dict[str, str]:
    """Return the versions of the packages that work."""
    return {plugin.name: plugin.version or "" for plugin in PLUGINS.values() if plugin.problem is None}


def _add(name: str, group: Group, points: Iterable[EntryPoint]) -> None:
    for point in points:
        for part in _parts(point, group):
            problem = next(group.problems(part), None)
            if problem is None and (key := group.key(part)) in group.registry:
                owner = PROVIDERS.get((group.noun, key), "Arcadia itself")
                problem = f"{owner} already has this {group.noun}"
            if problem is not None:
                raise PluginError(f"{point.value} is not usable: {_describe(group, part)}: {problem}.")
            group.add(part)
            PROVIDERS[group.noun, key] = name
            PLUGINS[name] = replace(PLUGINS[name], parts=(*PLUGINS[name].parts, (group.noun, key)))


def _parts(point: EntryPoint, group: Group) -> Iterator[Any]:
    plugin = _imported(point)
    if not isinstance(plugin, Plugin):
        raise PluginError(f"{point.value} must be a Plugin(interface={VERSION}, provides=[…]) of arcadia.plugins.")
    if plugin.interface != VERSION:
        raise PluginError(
            f"{point.value} was written for version {plugin.interface!r} of arcadia.plugins, but this Arcadia has "
            f"version {VERSION}. Install a version of the package for it."
        )
    for part in plugin.provides:
        if not isinstance(part, group.part):
            raise PluginError(f"{point.value} is in the group {group.name}, but provides {type(part).__name__}.")
        yield part


def _imported(point: EntryPoint) -> object:
    """Import an entry point. Its output must not mix with the documents of this process."""
    output = _Output()
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            found: object = point.load()
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise PluginError(f"{point.value} cannot be imported: {reason[:1_000]}") from error
    if output.written > MAX_OUTPUT:
        raise PluginError(TOO_MUCH_OUTPUT)
    return found


class _Output(io.TextIOBase):
    """Output that counts its characters and discards them."""

    written = 0

    def write(self, text: str) -> int:
        self.written += len(text)
        return len(text)


def _describe(group: Group, part: Any) -> str:
    try:
        return f"the {group.noun} {group.key(part)!r}"
    except AttributeError:
        return f"one {group.noun}"
