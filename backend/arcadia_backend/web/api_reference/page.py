"""HTML page with all operations and types of the API. It has no external parts, and works without its script."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from html import escape
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, HTMLResponse

from arcadia_backend.web.frontend import install_commands, origin_of

Schema = dict[str, Any]

_FORMATS = {"date-time": "date and time", "binary": "bytes"}
_LIMITS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
}


def type_of(schema: Schema) -> str:
    """Return the type, with links to the types that it contains."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rsplit("/", 1)[-1])
        return f'<a href="#type-{name}">{name}</a>'
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(type_of(one) for one in schema[several]))
    if "const" in schema:
        return _code(schema["const"])
    if "enum" in schema:
        return " or ".join(map(_code, schema["enum"]))
    return _plain(schema)


def limits_of(schema: Schema) -> str:
    """Return the limits and the default of a value."""
    bound = [sentence.format(f"{schema[key]:,}") for key, sentence in _LIMITS.items() if key in schema]
    bound += [limit for one in schema.get("anyOf", ()) if (limit := limits_of(one))]
    if "pattern" in schema:
        bound.append(f"matches {_code(schema['pattern'])}")
    if schema.get("default") not in (None, "", [], {}):
        bound.append(f"default {_code(schema['default'])}")
    return ", ".join(bound)


def _plain(schema: Schema) -> str:
    kind = schema.get("type")
    if kind == "array":
        return f"list of {type_of(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {type_of(schema['additionalProperties'])} by name"
    return escape(_FORMATS.get(schema.get("format", ""), str(kind or "anything")))


def _code(value: Any) -> str:
    written = str(value).lower() if isinstance(value, bool) else str(value)
    return f"<code>{escape(written)}</code>"


_STYLE = """
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem 1.5rem 4rem; line-height: 1.5;
  font-family: Inter, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  color: light-dark(#22262b, #d7d9de); background: light-dark(#fff, #191b20); }
a { color: light-dark(#005c91, #7cc4f5); }
code, pre { font-family: ui-monospace, monospace; font-size: .875em; overflow-wrap: anywhere; }
pre { padding: .75rem 1rem; white-space: pre-wrap; border-radius: 6px; background: light-dark(#f1f3f5, #24272d); }
nav ul { columns: 16rem; padding-left: 1rem; }
h2 { margin-top: 3rem; border-bottom: 1px solid light-dark(#d0d4d9, #3b4048); }
h3 { margin: 2rem 0 .25rem; font-size: 1rem; scroll-margin-top: 1rem; }
.method { display: inline-block; min-width: 4rem; font-weight: 700; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
th, td { padding: .3rem .5rem .3rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid light-dark(#e6e8eb, #2f333a); overflow-wrap: anywhere; }
th[scope=row] { width: 30%; font-weight: 400; }
.note { color: light-dark(#5c636c, #9a9ea7); }
"""

_INTRODUCTION = """
<p>Arcadia's frontend uses only this API. Requests and responses are JSON.
The OpenAPI document: <a href="/api/v1/openapi.json"><code>/api/v1/openapi.json</code></a>.</p>
<pre>curl http://127.0.0.1:8000/api/v1/runs -H 'Content-Type: application/json' \\
  -d '{"preset": "paac-cartpole", "overrides": {"seed": 3}}'</pre>
<p>If <code>ARCADIA_TOKEN</code> is set, send it with each request:
<code>-H "Authorization: Bearer $ARCADIA_TOKEN"</code>.
Paths below <code>/api/v1/worker</code> are for workers and need <code>ARCADIA_WORKER_TOKEN</code> instead.</p>
<p>An error is a <a href="#type-ProblemDocument">ProblemDocument</a> with the matching status. JSON has no NaN and no
infinity. Numbers that may have these values use the strings <code>"NaN"</code>, <code>"Infinity"</code> and
<code>"-Infinity"</code>.</p>
"""

# Copies commands.
SCRIPT = "/api/docs/copy.js"

Operation = tuple[str, str, dict[str, Any]]


def page_of(document: dict[str, Any], commands: Sequence[tuple[str, str]] = ()) -> str:
    """Return the HTML page of an OpenAPI document. The commands, with their titles, install the client."""
    calls = _by_tag(document)
    schemas: dict[str, Schema] = document["components"]["schemas"]
    return "".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<link rel="icon" href="/logo.svg" type="image/svg+xml">',
            f"<title>Arcadia's API</title><style>{_STYLE}</style>",
            f'<script defer src="{SCRIPT}"></script></head><body><main>',
            f'<p><a href="/">Arcadia</a></p><h1>The API of Arcadia {escape(document["info"]["version"])}</h1>',
            _INTRODUCTION,
            *_client(commands),
            *_contents(calls),
            *(part for tag, some in calls.items() for part in _section(tag, some)),
            '<h2 id="types">Types</h2>',
            *(part for name in sorted(schemas) for part in _type(name, schemas[name])),
            "</main></body></html>",
        ]
    )


def _client(commands: Sequence[tuple[str, str]]) -> Iterator[str]:
    if commands:
        yield '<h2 id="client">Python client and command line</h2>'
        yield '<p>The package <code>arcadia-client</code> needs Python 3.10 or newer. <a href="/client/">Files</a></p>'
    for number, (title, command) in enumerate(commands):
        name = f"command-{number}"
        label = escape(f"Copy: {title}")
        yield f'<p>{escape(title)}: <button hidden data-copies="{name}" aria-label="{label}">Copy</button></p>'
        yield f'<pre id="{name}">{escape(command)}</pre>'


def _by_tag(document: dict[str, Any]) -> dict[str, list[Operation]]:
    operations: dict[str, list[Operation]] = {}
    for path, item in document["paths"].items():
        for method, call in item.items():
            operations.setdefault((call.get("tags") or ["other"])[0], []).append((method.upper(), path, call))
    return operations


def _contents(calls: dict[str, list[Operation]]) -> Iterator[str]:
    yield '<nav aria-label="Contents"><ul>'
    for tag in calls:
        yield f'<li><a href="#{escape(tag)}">{_heading(tag)}</a></li>'
    yield '<li><a href="#types">Types</a></li></ul></nav>'


def _heading(tag: str) -> str:
    return escape(tag[:1].upper() + tag[1:])


def _section(tag: str, calls: list[Operation]) -> Iterator[str]:
    yield f'<h2 id="{escape(tag)}">{_heading(tag)}</h2>'
    for method, path, call in calls:
        name = escape(call["operationId"])
        yield f'<h3 id="{name}"><code><span class="method">{method}</span> {escape(path)}</code></h3>'
        yield _paragraphs(call.get("description", ""))
        rows = [
            _row(_placed(one), one["schema"], one.get("required", False), one) for one in call.get("parameters", ())
        ]
        yield from _table(f"Parameters of {name}", rows)
        yield f'<p class="note">{_describe_content(call)}</p>'


def _placed(parameter: dict[str, Any]) -> str:
    where = "" if parameter["in"] == "query" else f' <span class="note">in the {escape(parameter["in"])}</span>'
    return f"<code>{escape(parameter['name'])}</code>{where}"


def _describe_content(call: dict[str, Any]) -> str:
    """Return a sentence about the body and the responses of an operation."""
    parts = [f"Body: {kinds}." for kinds in [_kinds(call.get("requestBody", {}))] if kinds]
    for status, answer in call["responses"].items():
        if status != "default":
            parts.append(f"Response {escape(status)}: {_kinds(answer) or 'nothing'}.")
    return " ".join(parts)


def _kinds(message: dict[str, Any]) -> str:
    return " or ".join(
        type_of(content["schema"]) if content.get("schema") else f"<code>{escape(kind)}</code>"
        for kind, content in message.get("content", {}).items()
    )


def _type(name: str, schema: Schema) -> Iterator[str]:
    yield f'<h3 id="type-{escape(name)}"><code>{escape(name)}</code></h3>{_paragraphs(schema.get("description", ""))}'
    required, fields = schema.get("required", ()), schema.get("properties", {})
    rows = [_row(f"<code>{escape(key)}</code>", field, key in required, field) for key, field in fields.items()]
    yield from _table(f"Fields of {escape(name)}", rows)
    if not rows:
        yield f"<p>{type_of(schema)}</p>"


def _row(name: str, schema: Schema, required: bool, described: dict[str, Any]) -> str:
    limits = limits_of(schema)
    words = f"{type_of(schema)}{', ' + limits if limits else ''}"
    description = escape(described.get("description", ""))
    must = "" if required else ' <span class="note">optional</span>'
    return f'<tr><th scope="row">{name}{must}</th><td>{words}</td><td>{description}</td></tr>'


def _table(label: str, rows: list[str]) -> Iterator[str]:
    if rows:
        yield f'<table aria-label="{label}"><tbody>{"".join(rows)}</tbody></table>'


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{escape(part)}</p>" for part in text.split("\n\n") if part.strip())


PATH = "/api/docs"


def serve_reference(app: FastAPI, describe: Callable[[], dict[str, Any]]) -> None:
    """Serve the page. It is built at the first request to each address of the server."""
    document = cache(describe)

    @lru_cache(maxsize=8)
    def page(origin: str) -> str:
        return page_of(document(), install_commands(origin))

    @app.get(PATH, include_in_schema=False)
    def read_reference(request: Request) -> HTMLResponse:
        return HTMLResponse(page(origin_of(request)), headers={"Cache-Control": "no-cache"})

    @app.get(SCRIPT, include_in_schema=False)
    def read_script() -> FileResponse:
        return FileResponse(Path(__file__).with_name("copy.js"), headers={"Cache-Control": "no-cache"})
