"""A position in the text of an expression, and the tokens that can follow it."""

import re

from backend.runs.expressions.problems import Expected, ExpressionError, Span, shortened

_SPACE = re.compile(r"\s*")
_WORD = re.compile(r"[^\s()\[\]{},\"'<>=!~;]+")
_NAME = re.compile(r"[^\W\d][\w.]*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
# What an error marks: a word, a quoted text or one character.
_TOKEN = re.compile(r"[\w.]+|[<>=!]+|.", re.DOTALL)


class Scanner:
    """Reads one token after another."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self._skip_space()

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Read a token that matches a pattern, if it is next."""
        found = pattern.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
            self._skip_space()
        return found

    def take(self, *symbols: str) -> str | None:
        """Read the first of these symbols that is next."""
        for symbol in symbols:
            if self.text.startswith(symbol, self.at):
                self.at += len(symbol)
                self._skip_space()
                return symbol
        return None

    def take_word(self, *words: str) -> str | None:
        """Read one of these words, in any case, if it is next."""
        found = _NAME.match(self.text, self.at)
        if found is None or not self.is_word(*words):
            return None
        self.at = found.end()
        self._skip_space()
        return found[0].lower()

    def is_word(self, *words: str) -> bool:
        """Return True if one of these words, in any case, is next."""
        found = _NAME.match(self.text, self.at)
        return found is not None and found[0].lower() in words

    def name(self) -> str | None:
        """Read a name, if one is next."""
        found = self.match(_NAME)
        return found[0] if found else None

    def text_value(self) -> str | None:
        """Read a quoted text, or a word without spaces, if one is next."""
        if self.is_at('"', "'"):
            return self.quoted()
        found = self.match(_WORD)
        return found[0] if found else None

    def quoted(self) -> str:
        """Read a quoted text. Raise ExpressionError if it has no end."""
        found = self.match(_QUOTED)
        if found is None:
            raise ExpressionError("this text has no closing quote", Span(self.at, len(self.text)))
        return _ESCAPED.sub(r"\1", found[1] if found[1] is not None else found[2])

    def is_at(self, *symbols: str) -> bool:
        """Return True if one of these symbols is next."""
        return self.text.startswith(symbols, self.at)

    @property
    def at_end(self) -> bool:
        """Return True if nothing follows."""
        return self.at == len(self.text)

    def span_from(self, start: int) -> Span:
        """Return the span from a position to here, without the spaces at its end."""
        return Span(start, max(start, len(self.text[: self.at].rstrip())))

    def next_span(self) -> Span:
        """Return the span of the next token. It is empty at the end."""
        found = _TOKEN.match(self.text, self.at)
        return Span(self.at, found.end() if found else self.at)

    def error(self, expected: str, kind: Expected | None = None) -> ExpressionError:
        """Return the error that something else is next than expected."""
        span = self.next_span()
        found = self.text[span.start : span.end]
        instead = f", not {shortened(found)!r}" if found else ""
        return ExpressionError(f"expected {expected}{instead}", span, expected=kind)

    def _skip_space(self) -> None:
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at
