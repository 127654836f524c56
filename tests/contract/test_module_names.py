"""Requests with names of modules in place of Arcadia's names: all are rejected, and none imports anything."""

import copy
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import factories
from tests.contract.conftest import CASES, DOORS, Door
from tests.contract.test_odd_requests import API, STUDY, Scene
from tests.plugin_packages import ONE_ENVIRONMENT, Site

A_FEW = 150
NAME = "NAME OF A MODULE"
CONFIG_FIELDS = ("algorithm", "env", "network", "evaluation_protocol")

# Installed, but not allowed. Tests also send the ID of its environment and its entry point as names.
PACKAGE = "arcadia-decoy"
MODULES = ("arcadia_decoy", "toy_one_world", "antigravity", "turtledemo.chaos", "this", "minigrid.envs")
PARTS = ("PARTS", "parts", "Toy/One-v0", "CartPole-v1", "TRAINER", "main", "__doc__")

_modules = st.sampled_from(MODULES)
_words = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,12}", fullmatch=True)
names = st.one_of(
    st.sampled_from([PACKAGE, *MODULES, "parts", "PARTS", "Toy/One-v0"]),
    st.builds("{}:{}".format, _modules | _words, st.sampled_from(PARTS) | _words),
    st.builds("{}.{}:{}".format, _modules, _words, _words),
    st.lists(_modules | _words, min_size=2, max_size=4).map(".".join),
    st.builds("__import__({!r}){}".format, _modules, st.sampled_from(["", ".main()"])),
    st.builds("{}{}".format, st.sampled_from(["../", "./", "/", "..\\", "file:///"]), _modules),
    st.builds("{}/{}-v0".format, _modules, _words),
    st.builds("{} as {}".format, _modules, _words),
)


@dataclass(frozen=True)
class Place:
    """A request with a place for a name, in its path, its query or its body."""

    method: str
    path: str
    body: Any = None
    query: Mapping[str, Any] = field(default_factory=dict)

    def send(self, door: Door, name: str) -> factories.Response:
        """Send the request with a name."""
        path = f"{API}{self.path.replace(NAME, quote(name, safe=''))}"
        query = {key: name if value == NAME else value for key, value in self.query.items()}
        return door.api.user.request(self.method, path, params=query, json=_filled(self.body, name))


def _imported() -> set[str]:
    # hypothesis imports its own modules when it needs them.
    return {name for name in sys.modules if not name.startswith("hypothesis")}


def _filled(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return {key: _filled(inner, name) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, name) for inner in value]
    return name if value == NAME else value


def refusing(scene: Scene) -> Iterator[Place]:
    """Yield the requests that must be rejected."""
    run, study = f"/runs/{scene.run_id}", copy.deepcopy(STUDY)
    for name in CONFIG_FIELDS:
        one = {name: NAME}
        for path in ("/runs", "/runs/preview"):
            yield Place("post", path, {"config": factories.CARTPOLE | one})
            yield Place("post", path, {"preset": "paac-cartpole", "overrides": one})
        yield Place("post", f"{run}/clone", {"overrides": one})
        yield Place("post", f"{run}/fork", {"checkpoint_id": scene.checkpoint_id, "overrides": one})
        yield Place("post", f"{run}/changes", {"fields": one})
        for path in ("/studies", "/studies/preview"):
            yield Place("post", path, study | {"changes": one})
            yield Place("post", path, study | {"preset": None, "config": factories.CARTPOLE | one})
            yield Place("post", path, study | {"axes": [{"field": name, "values": [NAME]}]})
    yield Place("post", "/runs", {"preset": NAME})
    yield Place("post", "/studies/preview", study | {"preset": NAME})
    yield Place("post", "/studies/preview", study | {"axes": [{"field": "preset", "values": [NAME]}]})
    yield Place("post", "/suites/specification", {"games": NAME})
    for name, value in (("games", [NAME]), ("preset", NAME), ("protocol", NAME)):
        suite = {"games": "atari-5", "seeds": 1, "total_steps": 2_000}
        yield Place("post", "/suites/specification", suite | {name: value})
    for path in (f"{run}/evaluations", f"{run}/recordings"):
        yield Place("post", path, {"protocol": NAME})
        yield Place("post", path, {"acting": {"name": NAME}})
        yield Place("post", path, {"checkpoint": NAME})
    yield Place("post", "/start-sets", factories.start_set("human") | {"env": NAME}, {"name": "x"})
    yield Place("post", "/agents", {}, {"env": NAME})
    yield Place("get", "/games/pong/figure", query={"protocol": NAME})
    for path in ("games", "papers", "papers/a3c", "papers/ga3c/figure-1/diagrams"):
        yield Place("get", f"/{path}/{NAME}")
    yield Place("post", f"/games/{NAME}/play")


def searching() -> Iterator[Place]:
    """Yield the requests that only search for a name or parse text."""
    for path in ("/runs", "/run-groups", "/run-settings", "/run-failures"):
        for name in ("env", "algorithm"):
            yield Place("get", path, query={name: NAME, "by": "method"})
    for path in ("/kept-games", "/start-sets"):
        yield Place("get", path, query={"env": NAME})
    yield Place("post", "/configurations/parse", {"text": NAME, "base": None})
    yield Place("post", "/reported/runs", {"key": "decoy", "name": "x", "env": NAME, "method": NAME, "config": {}})


@pytest.mark.parametrize(("database_url", "token"), DOORS[:1], indirect=["database_url"])
@pytest.mark.timeout(0 if CASES else 600)
def test_requests_that_name_modules_are_rejected_and_import_nothing(door: Door, site: Site) -> None:
    site.install(PACKAGE, ONE_ENVIRONMENT)
    scene = Scene(door)
    refused, searched = list(refusing(scene)), list(searching())
    for place in refused + searched:
        place.send(door, "no-such-part")
    before = _imported()

    @settings(max_examples=CASES or A_FEW, suppress_health_check=[HealthCheck.too_slow], database=None)
    @given(place=st.sampled_from(refused), other=st.sampled_from(searched), name=names)
    def refuse(place: Place, other: Place, name: str) -> None:
        answer = place.send(door, name)
        assert 400 <= answer.status_code < 500, (place, name, answer.status_code, answer.text[:500])
        assert other.send(door, name).status_code < 500, (other, name)
        assert _imported() <= before, (place, other, name)

    refuse()
