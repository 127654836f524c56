"""Markdown of reports as HTML, which matches the browser's and contains nothing that runs."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from arcadia_backend.reports.markdown import MAX_FORMULA_LENGTH, image_files, to_html, to_mathml

FIXTURES = Path(__file__).parents[2] / "fixtures"
# frontend/src/ui/Markdown.test.tsx tests the page with the same files.
TEXTS = json.loads((FIXTURES / "markdown.json").read_text())
FORMULAS = json.loads((FIXTURES / "formulas.json").read_text())
WRAPPERS = {"math", "mrow", "mstyle", "mpadded", "semantics", "mtd"}


def html(markdown: str) -> str:
    """Return the HTML with images at their own addresses."""
    return to_html(markdown, lambda file: f"/api/v1/files/{file}")


def shape(element: ElementTree.Element) -> str:
    """Return the symbols of a formula and their layout, without spaces and attributes."""
    parts = [part for part in map(shape, element) if part]
    if element.tag == "mspace":
        return ""
    if element.tag in WRAPPERS:
        return " ".join(parts)
    if len(element) == 0:
        return re.sub(r"[\s\u2061-\u2064]", "", element.text or "")
    return f"{element.tag}({', '.join(parts)})"


class Active(HTMLParser):
    """A parser that collects elements that could run a script or load a resource."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        scripts = re.compile(r"\s*(javascript|vbscript|data:text)", re.I)
        for name, value in attrs:
            loads = name == "src" and re.match("https?:", value or "", re.I)
            if name.startswith("on") or loads or (name == "href" and scripts.match(value or "")):
                self.found.append(f"{tag} {name}={value}")
        if tag in {"script", "iframe", "object", "link", "style"}:
            self.found.append(tag)


@pytest.mark.parametrize("case", TEXTS, ids=[case["name"] for case in TEXTS])
def test_markdown_matches_the_page_and_runs_no_scripts(case: dict[str, str]) -> None:
    assert html(case["markdown"]) == case["html"]
    active = Active()
    active.feed(case["html"])
    assert active.found == []


@pytest.mark.parametrize("case", FORMULAS, ids=[case["latex"] for case in FORMULAS])
def test_formula_matches_the_page(case: dict[str, Any]) -> None:
    mathml = to_mathml(case["latex"], display=case["display"])
    assert (mathml and shape(ElementTree.fromstring(mathml))) == case["shape"]  # noqa: S314 - our own output
    mark = "$$" if case["display"] else "$"
    shown = html(f"a {mark}{case['latex']}{mark}")
    assert ("<math" in shown) == (case["shape"] is not None)
    assert ("<code>" in shown) == (case["shape"] is None)


@pytest.mark.parametrize(
    "latex",
    [
        r"\href{javascript:alert(1)}{x}",
        r"\text{<img src=x onerror=alert(1)>}",
        r"\text{&lt;script&gt;}",
        r"\style{background:url(http://e.org)}{x}",
        r"\class{x}{y}",
        r'\color{"><script>}x',
        r"\hspace{99999em}x",
        "{" * (MAX_FORMULA_LENGTH // 2) + "}" * (MAX_FORMULA_LENGTH // 2),
        r"\frac" * 200,
        "^" * MAX_FORMULA_LENGTH,
    ],
)
def test_malicious_formula_is_harmless(latex: str) -> None:
    active = Active()
    shown = html(f"$${latex}$$")
    active.feed(shown)
    assert active.found == []
    assert not re.search(r"<(img|script)|99999em", shown.partition("<code>")[0])
    assert "url(" not in shown.partition("<code>")[0]


@pytest.mark.parametrize(
    "markdown",
    [
        ">" * 20_000,
        "- " * 10_000,
        "[" * 20_000,
        "![" * 10_000,
        "*a **b " * 2_500,
        "$a" * 10_000,
        "$$ x\n" * 4_000,
        "`" * 20_000,
        f"{'|a' * 4_000}|\n{'|-' * 4_000}|\n" + "|1\n" * 1_000,
    ],
    ids=["quotes", "lists", "brackets", "images", "stars", "dollars", "double dollars", "ticks", "cells"],
)
def test_repeated_marks_do_not_inflate_the_html(markdown: str) -> None:
    assert len(html(markdown)) < 2_000_000


def test_image_files_are_found() -> None:
    text = (
        "![a](/api/v1/files/7) [![b](/api/v1/files/8)](http://e.org) ![c][1]\n\n[1]: /api/v1/files/9\n\n/api/v1/files/0"
    )
    assert image_files(text) == {7, 8, 9}
