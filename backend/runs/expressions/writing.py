"""Texts and numbers as an expression writes them."""

import re

_PLAIN = re.compile(r"[^\W\d][\w./+-]*")
_ESCAPED = re.compile(r'(["\\])')
_NAME = re.compile(r"[^\W\d][\w.]*")


def quoted(text: str) -> str:
    """Return a text in quotes."""
    return f'"{_ESCAPED.sub(_escape, text)}"'


def written_text(text: str) -> str:
    """Return a text, in quotes if it needs them."""
    is_word = _PLAIN.fullmatch(text) and text.lower() not in ("true", "false")
    return text if is_word else quoted(text)


def written_setting(name: str, is_reserved: bool) -> str:
    """Return a field of the configuration. A name that means something else is inside of config()."""
    return name if _NAME.fullmatch(name) and not is_reserved else f"config({written_text(name)})"


def written_metric(statistic: str, name: str) -> str:
    """Return a statistic of a metric."""
    return f"{statistic}({written_text(name)})"


def _escape(found: re.Match[str]) -> str:
    return f"\\{found[1]}"
