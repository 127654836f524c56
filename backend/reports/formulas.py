"""Conversion of LaTeX formulas to MathML, which browsers draw without a script."""

import re
from html import escape, unescape
from xml.etree.ElementTree import Element

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
