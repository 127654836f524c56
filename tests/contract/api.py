"""A listing of the public API in api.txt, and its changes: `python -m tests.contract.api` rewrites it.

Each route has its parameters, its body and its responses, and each schema its fields. `?` marks what may be missing.
Limits such as a largest value, defaults and descriptions are left out.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any

from arcadia_backend.app import create_app, describe_api
from arcadia_backend.config import Settings

LISTING = Path(__file__).with_name("api.txt")
HEADING = "# The public API. `.venv/bin/python -m tests.contract.api` rewrites this file.\n"
WIDTH = 120
# Words for types, to keep the listing short.
SHORT = {"integer": "int", "string": "str", "boolean": "bool", "date-time": "time"}
# The parts of a union. Parts of other unions are in brackets.
ALTERNATIVE = re.compile(r"""(?:\[(?:\[[^]]*\]|[^]])*\]|\{[^}]*\}|\([^)]*\)|[^|])+""")

# The parameters, responses or fields by the name of a route or a schema. A value is a type.
Api = dict[str, dict[str, str]]


def type_of(schema: Mapping[str, Any]) -> str:
    """Return a type as one word."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if alternatives := schema.get("anyOf", schema.get("oneOf")):
        return "|".join(dict.fromkeys(map(type_of, alternatives)))
    if "const" in schema or "enum" in schema:
        values = schema.get("enum", [schema.get("const")])
        return "|".join(f'"{value}"'.replace(" ", "_") for value in values)
    if schema.get("type") == "array":
        if "prefixItems" in schema:
            return f"({','.join(map(type_of, schema['prefixItems']))})"
        return f"[{type_of(schema.get('items', {}))}]"
    if isinstance(schema.get("additionalProperties"), dict):
        return f"{{{type_of(schema['additionalProperties'])}}}"
    kind = str(schema.get("format", schema.get("type", "any")))
    return SHORT.get(kind, kind)


def route_parts(call: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the parameters, the body and the responses of a route. Its path has the others."""
    for parameter in call.get("parameters", []):
        if parameter["in"] != "path":
            yield parameter["name"] + "?" * (not parameter["required"]), type_of(parameter["schema"])
    if body := call.get("requestBody"):
        yield "body" + "?" * (not body.get("required")), content_of(body)
    for status, response in call["responses"].items():
        if status != "default":
            yield f"->{status}", content_of(response) if "content" in response else "any"


def content_of(message: Mapping[str, Any]) -> str:
    """Return the type of a body: that of its JSON, else its media type."""
    return "|".join(type_of(body["schema"]) if "json" in kind else kind for kind, body in message["content"].items())


def describe(document: Mapping[str, Any]) -> Api:
    """Return the routes and schemas of an OpenAPI document."""
    api = {
        f"{method.upper()} {path}": dict(route_parts(call))
        for path, methods in sorted(document["paths"].items())
        for method, call in sorted(methods.items())
    }
    for name, schema in sorted(document["components"]["schemas"].items()):
        required = schema.get("required", [])
        fields = schema.get("properties", {})
        api[name] = {f + "?" * (f not in required): type_of(fields[f]) for f in sorted(fields)}
    return api


def to_text(api: Api) -> str:
    """Return the listing of an API."""
    lines = [HEADING]
    for name, parts in api.items():
        words = " ".join([name, *(f"{part}:{kind}" for part, kind in parts.items())])
        lines += wrap(words, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def from_text(text: str) -> Api:
    """Read a listing."""
    api: Api = {}
    for entry in re.split(r"\n(?! )", text.removeprefix(HEADING).strip()):
        words = entry.split()
        named = 2 if words[1:] and words[1].startswith("/") else 1
        api[" ".join(words[:named])] = dict(word.split(":", 1) for word in words[named:])
    return api


def sent_and_received(api: Api) -> tuple[set[str], set[str]]:
    """Return the schemas that clients send and those that they receive."""

    def reach(names: set[str], found: set[str]) -> set[str]:
        for name in (names & api.keys()) - found:
            found.add(name)
            reach({word for kind in api[name].values() for word in re.findall(r"\w+", kind)}, found)
        return found

    routes = [(part, kind) for name, parts in api.items() if " " in name for part, kind in parts.items()]
    sent = {word for part, kind in routes if "->" not in part for word in re.findall(r"\w+", kind)}
    received = {word for part, kind in routes if "->" in part for word in re.findall(r"\w+", kind)}
    return reach(sent, set()), reach(received, set())


def changes(before: Api, after: Api) -> tuple[list[str], list[str]]:
    """Return what an API adds, and what is incompatible with its clients."""
    additions = [f"{name} is new" for name in after.keys() - before.keys()]
    incompatible = [f"{name} is missing" for name in before.keys() - after.keys()]
    sent, received = sent_and_received(after)
    for name in before.keys() & after.keys():
        earlier, parts = ({f"{part}:{kind}" for part, kind in api[name].items()} for api in (before, after))
        old, new = ({part_name(part): part for part in found} for found in (earlier - parts, parts - earlier))
        for part in old | new:
            is_sent = name in sent or (" " in name and "->" not in part)
            is_received = name in received or "->" in part
            change, breaks = change_of(old.get(part), new.get(part), is_sent=is_sent, is_received=is_received)
            (incompatible if breaks else additions).append(f"{name}: {change}")
    return sorted(additions), sorted(incompatible)


def part_name(part: str) -> str:
    """Return the name of a part without its type."""
    return part.partition(":")[0].rstrip("?")


def values_of(part: str) -> set[str]:
    """Return what a part may be, including that it may be missing."""
    name, _, kind = part.partition(":")
    return {*ALTERNATIVE.findall(kind), *(["missing"] if name.endswith("?") else [])}


def change_of(old: str | None, new: str | None, *, is_sent: bool, is_received: bool) -> tuple[str, bool]:
    """Return the change of a part in words, and whether it breaks clients."""
    if new is None:
        return f"{old} is missing", True
    if old is None:
        return f"{new} is new", is_sent and "missing" not in values_of(new)
    narrower, wider = not values_of(old) <= values_of(new), not values_of(new) <= values_of(old)
    return f"{old} is now {new}", (is_sent and narrower) or (is_received and wider)


def main() -> None:
    """Rewrite the listing, and print what has changed."""
    current = describe(describe_api(create_app(Settings(host="127.0.0.1"))))
    added, incompatible = changes(from_text(LISTING.read_text()), current)
    LISTING.write_text(to_text(current))
    for title, lines in (("Additions", added), ("Incompatible changes", incompatible)):
        print(f"{title}: {len(lines)}", *lines, sep="\n  ")


if __name__ == "__main__":
    main()
