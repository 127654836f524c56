"""Conversion of Markdown to HTML, with the same rules as in the browser (frontend/src/ui/markdownHtml.ts)."""

import re
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from html import escape, unescape
from typing import Any
from xml.etree.ElementTree import Element

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

# Longer formulas are shown as text.
MAX_FORMULA_LENGTH = 1_000

_TAGS = {
    *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mstyle", "mpadded", "mphantom", "menclose"),
    *("mfrac", "msqrt", "mroot", "msub", "msup", "msubsup", "munder", "mover", "munderover"),
    *("mtable", "mtr", "mtd"),
}
_ATTRIBUTES = {
    "display": re.compile(r"block|inline"),
    "mathcolor": re.compile(r"[a-zA-Z]{1,30}|#[0-9a-fA-F]{3,8}"),
    "mathvariant": re.compile(r"[a-z-]{1,40}"),
    "notation": re.compile(r"[a-z ]{1,60}"),
    **dict.fromkeys(("form", "columnalign", "linethickness"), re.compile(r"[a-z0-9. ]{1,60}")),
    **dict.fromkeys(
        ("stretchy", "fence", "separator", "accent", "accentunder", "movablelimits", "displaystyle"),
        re.compile(r"true|false"),
    ),
    "scriptlevel": re.compile(r"[+-]?\d"),
    # Limit spaces to the width of a page.
    **dict.fromkeys(("width", "minsize", "maxsize"), re.compile(r"-?\d{0,2}(\.\d{1,4})?(em|ex)")),
}


# A formula with one of these attributes is rejected, as in the browser's library.
_REJECTED = {"href", "id", "class", "style"}

_ARGUMENTS = {
    **dict.fromkeys(("mfrac", "mroot", "msub", "msup", "munder", "mover"), 2),
    **dict.fromkeys(("msubsup", "munderover"), 3),
}
# In display formulas, limits of operators such as max are below them.
_LIMITS = {"msub": "munder", "msubsup": "munderover"}


class _UnreadableError(Exception):
    """An unknown or forbidden command in a formula."""


def to_mathml(latex: str, *, display: bool) -> str | None:
    """Return the formula as MathML, or None if it is invalid."""
    # Import late: its symbol tables load slowly, and only exports with formulas need them.
    from latex2mathml.converter import convert_to_element

    latex = latex.replace("{aligned}", "{split}")
    latex = re.sub(r"\\operatorname\{([A-Za-z ]+)\}", r"\\text{\1}", latex)
    try:
        # latex2mathml does not escape tags and links, so serialize the elements here.
        return _serialize(convert_to_element(latex, display="block" if display else "inline"), display)
    except Exception:
        # latex2mathml raises many error types for invalid formulas: its own, IndexError, RecursionError.
        return None


def _serialize(element: Element, display: bool) -> str:
    """Return the element with allowed tags and attributes only. Raise _UnreadableError if it has others."""
    if element.tag not in _TAGS or not _REJECTED.isdisjoint(element.attrib):
        raise _UnreadableError(element.tag)
    if len(element) != _ARGUMENTS.get(element.tag, len(element)):
        raise _UnreadableError(element.tag)
    text = unescape(element.text or "")
    if text.startswith("\\") and len(text) > 1:
        raise _UnreadableError(text)
    kept = {
        name: value
        for name, value in element.attrib.items()
        if (allowed := _ATTRIBUTES.get(name)) and allowed.fullmatch(value)
    }
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in kept.items())
    movable = display and len(element) > 0 and element[0].tag == "mo" and (element[0].text or "")[:1].isalpha()
    tag = _LIMITS.get(element.tag, element.tag) if movable else element.tag
    return f"<{tag}{attributes}>{escape(text)}{''.join(_serialize(child, display) for child in element)}</{tag}>"


# Returns the URL of an image file by id, or None if it cannot be shown.
ImageSource = Callable[[int], str | None]

_LENGTH = f"{{1,{MAX_FORMULA_LENGTH}}}"
_FORMULA = re.compile(rf"\$\$((?:[^$\\]|\\.){_LENGTH})\$\$|\$(?!\s)((?:[^$\\`]|\\.){_LENGTH})(?<!\s)\$(?![0-9])", re.S)
_WEB = re.compile(r"https?://", re.I)
_STORED = re.compile(r"/api/v1/files/([1-9][0-9]{0,14})$")
_NAMED = re.compile(r"/api/v1/files/([1-9][0-9]{0,14})(?![0-9])")
_DATA = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,", re.I)


def to_html(markdown: str, image_source: ImageSource = lambda _: None) -> str:
    """Return the text as HTML. HTML in it is escaped, and external images become their alternative text."""
    html: str = _PARSER.render(markdown, {"image_source": image_source})
    return html


def image_files(markdown: str) -> set[int]:
    """Return the ids of the files in the text. It is not parsed, so this is fast for any text."""
    return {int(number) for number in _NAMED.findall(markdown)}


def replace_image_files(markdown: str, files: Mapping[int, int]) -> str:
    """Return the text with the new ids of its files. Other files are shown as the alternative text of their images."""
    return _NAMED.sub(lambda named: f"/api/v1/files/{files.get(int(named[1]), 0)}", markdown)


def _parser() -> MarkdownIt:
    parser = MarkdownIt("js-default", {"html": False, "linkify": False, "typographer": False, "maxNesting": 20})
    parser.inline.ruler.after("escape", "formula", _inline_formula)
    parser.block.ruler.after(
        "fence", "formula", _block_formula, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    rules: dict[str, Callable[..., str]] = {
        "heading_open": _heading,
        "heading_close": _heading,
        "link_open": _link,
        "image": _image,
        "table_open": lambda *_: '<div class="wide" role="group" aria-label="Table" tabindex="0"><table>\n',
        "table_close": lambda *_: "</table></div>\n",
        "inline_formula": _formula,
        "block_formula": _formula,
    }
    for kind, rule in rules.items():
        parser.add_render_rule(kind, rule)
    return parser


def _inline_formula(state: StateInline, silent: bool) -> bool:
    """Parse `$…$` and `$$…$$` in a line."""
    match = _FORMULA.match(state.src, state.pos, state.posMax) if state.src[state.pos] == "$" else None
    if match is None:
        return False
    if not silent:
        token = state.push("inline_formula", "math", 0)
        token.markup = "$" if match[1] is None else "$$"
        token.content = (match[1] or match[2]).strip()
    state.pos = match.end()
    return True


def _block_formula(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Parse lines that begin and end with `$$`."""
    begin = state.bMarks[first] + state.tShift[first]
    if state.is_code_block(first) or not state.src.startswith("$$", begin):
        return False
    end = state.src.find("$$", begin + 2, begin + 2 + MAX_FORMULA_LENGTH)
    line = first
    while end >= 0 and line < last and state.eMarks[line] < end:
        line += 1
        if line < last and state.sCount[line] < state.blkIndent:
            return False
    if end < 0 or line >= last or state.src[end + 2 : state.eMarks[line]].strip():
        return False
    content = state.getLines(first, line + 1, state.sCount[first], False).strip()[2:-2].strip()
    if not content:
        return False
    if not silent:
        state.line = line + 1
        token = state.push("block_formula", "math", 0)
        token.block, token.markup, token.content, token.map = True, "$$", content, [first, line + 1]
    return True


Environment = MutableMapping[str, Any]


def _heading(_renderer: Any, tokens: Sequence[Token], at: int, *_: Any) -> str:
    """Render a heading below that of the page, which has the only one of level 1.

    The highest level of a text is always the second one of the page, so that no level is skipped.
    """
    token = tokens[at]
    levels = sorted({each.tag for each in tokens if each.type == "heading_open"})
    tag = f"h{min(levels.index(token.tag) + 2, 6)}"
    return f"<{tag}>" if token.nesting == 1 else f"</{tag}>\n"


def _link(renderer: Any, tokens: Sequence[Token], at: int, options: OptionsDict, env: Environment) -> str:
    """Render a web link. Drop the target of other links, which would be wrong in an exported file."""
    token = tokens[at]
    if not _WEB.match(str(token.attrs["href"])):
        return "<a>"
    token.attrSet("rel", "noreferrer")
    rendered: str = renderer.renderToken(tokens, at, options, env)
    return rendered


def _image(renderer: Any, tokens: Sequence[Token], at: int, options: OptionsDict, env: Environment) -> str:
    """Render a stored or embedded image, or the alternative text of another image."""
    token = tokens[at]
    source, text = str(token.attrs["src"]), renderer.renderInlineAsText(token.children or [], options, env)
    stored = _STORED.match(source)
    shown = env["image_source"](int(stored[1])) if stored else source if _DATA.match(source) else None
    if shown is None:
        return _escaped(text)
    return f'<img src="{_escaped(shown)}" alt="{_escaped(text)}">'


def _formula(_renderer: Any, tokens: Sequence[Token], at: int, *_: Any) -> str:
    """Render a formula, or its source if it is invalid."""
    token = tokens[at]
    mathml = to_mathml(token.content, display=token.markup == "$$")
    shown = mathml or f"<code>{_escaped(token.markup + token.content + token.markup)}</code>"
    return f'<p class="formula">{shown}</p>\n' if token.type == "block_formula" else shown


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


_PARSER = _parser()
