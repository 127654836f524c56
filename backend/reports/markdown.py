"""Markdown as HTML, by the rules of frontend/src/ui/markdownBlocks.ts: all that is not named here stays text."""

import re
from collections.abc import Iterator
from html import escape

# What stands between brackets holds none, so that a long text of brackets takes no longer than another.
_INLINE = re.compile(r"(`[^`]+`|\*\*[^*]+\*\*|\*[^*]+\*|\[[^\]\[]+\]\(https?://[^\s)]+\))")
_HEADING = re.compile(r"(#{1,6}) (.*)")
_BULLET, _NUMBERED = re.compile(r"\s*[-*] "), re.compile(r"\s*\d{1,9}[.)] ")
_FENCE = "```"


def to_html(markdown: str) -> str:
    """Headings, lists, code, paragraphs; bold, italic, code and links in them."""
    return "\n".join(_shown(kind, lines) for kind, lines in _blocks(re.split(r"\r\n|\r|\n", markdown)))


def _blocks(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Lines that belong together, and what they are."""
    kind, held = "blank", list[str]()
    for line in lines:
        now = _kind(line) if kind != "code" else "fence" if line.startswith(_FENCE) else "code"
        if now == "fence":
            if held or kind == "code":
                yield kind, held
            kind, held = ("blank", []) if kind == "code" else ("code", [])
            continue
        if now != kind or now == "heading":
            if held:
                yield kind, held
            kind, held = now, []
        if now != "blank":
            held.append(line)
    if held:
        yield kind, held


def _kind(line: str) -> str:
    if line.startswith(_FENCE):
        return "fence"
    if not line.strip():
        return "blank"
    if _HEADING.fullmatch(line):
        return "heading"
    return "bullets" if _BULLET.match(line) else "numbers" if _NUMBERED.match(line) else "paragraph"


def _shown(kind: str, lines: list[str]) -> str:
    if kind == "code":
        return f"<pre><code>{escape(chr(10).join(lines))}</code></pre>"
    if kind == "heading":
        marks, words = _HEADING.fullmatch(lines[0]).groups()  # type: ignore[union-attr]
        level = min(len(marks) + 1, 6)
        return f"<h{level}>{_inline(words)}</h{level}>"
    if kind in ("bullets", "numbers"):
        mark, tag = (_BULLET, "ul") if kind == "bullets" else (_NUMBERED, "ol")
        items = [mark.sub("", line, count=1) for line in lines]
        return f"<{tag}>{''.join(f'<li>{_inline(item)}</li>' for item in items)}</{tag}>"
    return f"<p>{_inline(chr(10).join(lines))}</p>"


def _inline(text: str) -> str:
    return "".join(_piece(part) for part in _INLINE.split(text))


def _piece(part: str) -> str:
    if not _INLINE.fullmatch(part):
        return escape(part)
    if part.startswith("`"):
        return f"<code>{escape(part[1:-1])}</code>"
    if part.startswith("**"):
        return f"<strong>{escape(part[2:-2])}</strong>"
    if part.startswith("*"):
        return f"<em>{escape(part[1:-1])}</em>"
    words, _, address = part[1:-1].partition("](")
    return f'<a href="{escape(address)}" rel="noreferrer">{escape(words)}</a>'
