"""Pages with tables: update them, and check tables and numbers against the data.

A table follows a comment with its name and a line that names its data. Sections without tables may use the data of
the sections below them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.tables.data import DATA, RESULTS, TABLES, Lines, origin, read_index, read_rows

MARK = re.compile(r"^<!-- table (\w+) -->$", re.MULTILINE)
HEADING = re.compile(r"^(#+) ")
# Numbers that are names: years, versions, and parts of papers.
NAMES = re.compile(
    r"(?:et al\.|and Ostrovski)\s\(?\d{4}\)?|(?:[Tt]ables?|[Ff]igures?|[Ss]ections?|[Aa]lgorithms?|[Dd]ecisions?"
    r"|[Pp]ython|torch|ale-py|Baselines|Arcadia|MLflow|Trackio|version|gymnasium|H)\s?\d[\d.+cu]*(?:\sand\s\d+)?"
)
NUMBER = re.compile(r"(?<![\w.,])[−-]?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
# Texts of the index whose numbers a page may repeat.
INDEX_TEXTS = ("command", "note", "about")
UNITS = {"M": 1e-6, "%": 100.0, "kB": 1e-3, "s": 1e-3, "ms": 1e3, "minutes": 1 / 60}


@dataclass
class Section:
    """A section of a page: its level, the lines of its text and of its code, and its tables."""

    level: int
    title: str
    text: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)


# The only page outside of docs/results with tables of data.
INFERENCE = RESULTS.parent / "inference.md"


def pages(folder: Path = RESULTS) -> list[Path]:
    """Return the pages with tables of data."""
    return [*sorted(folder.glob("*.md")), INFERENCE]


def data_link(page: Path) -> str:
    """Return the way from a page to the folder of data."""
    return "results/data" if page == INFERENCE else "data"


def markdown(lines: Lines) -> list[str]:
    """Return a table as Markdown with aligned columns."""
    lines = [[cell.strip() for cell in line] for line in lines]
    widths = [max(3, *(len(line[n]) for line in lines)) for n in range(len(lines[0]))]
    padded = [[cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines]
    ruled = [padded[0], ["-" * width for width in widths], *padded[1:]]
    return [f"| {' | '.join(line)} |" for line in ruled]


def updated(text: str, folder: Path = DATA, link: str = "data") -> str:
    """Return a page with its tables and their origins computed again."""
    lines, result = text.split("\n"), list[str]()
    while lines:
        result.append(lines.pop(0))
        mark = MARK.match(result[-1])
        if mark and (found := TABLES.get(mark[1])) and found.has_data(folder):
            _drop_generated(lines)
            result += ["", *_wrapped(origin(found.files, folder, link)), "", *markdown(found.lines(folder)), ""]
    return "\n".join(result)


def _drop_generated(lines: list[str]) -> None:
    """Remove the origin and the table at the beginning of lines."""
    in_origin = False
    while lines and (in_origin or lines[0] == "" or lines[0].startswith(("Data: ", "|"))):
        line = lines.pop(0)
        in_origin = bool(lines and lines[0]) and line != "" and not line.startswith("|")


def _wrapped(text: str, width: int = 100) -> list[str]:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) + 1 > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def problems(path: Path, folder: Path = DATA) -> Iterator[str]:
    """Yield what is wrong on a page: tables without data, tables that differ from it, numbers that are not in it."""
    text = path.read_text()
    for name in MARK.findall(text):
        if name not in TABLES:
            yield f"{path.name}: no function computes the table {name}"
            return
        if not TABLES[name].has_data(folder):
            yield f"{path.name}: {' or '.join(TABLES[name].files)} is not in docs/results/data"
            return
    if _flat(updated(text, folder, data_link(path))) != _flat(text):
        yield f"{path.name}: a table differs from its data: run python -m bench.tables --write"
    sections = split(text)
    for place, section in enumerate(sections):
        if path == INFERENCE and not section.tables:
            continue  # It also has sections about methods.
        if any(line.startswith("|") for line in section.text):
            yield f"{path.name}, {section.title}: a table has no data"
        missing = untraced(sections, place, folder)
        if missing:
            yield f"{path.name}, {section.title}: not in its data: {', '.join(missing)}"


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def split(text: str) -> list[Section]:
    """Split a page into sections. Tables with data and their origins are no text."""
    sections, state = [Section(0, "")], "text"
    for line in text.split("\n"):
        section = sections[-1]
        if heading := HEADING.match(line):
            sections.append(Section(len(heading[1]), line.lstrip("# ")))
            state = "text"
        elif mark := MARK.match(line):
            section.tables.append(mark[1])
            state = "table"
        elif line.startswith("    "):
            section.code.append(line)
        elif state == "table" and (not line or line.startswith(("Data: ", "|"))):
            state = "rows" if line.startswith("|") else state
        elif state == "rows" and line.startswith("|"):
            continue
        elif state != "table":
            state = "text"
            section.text.append(line)
    return sections


def family(sections: Sequence[Section], place: int) -> Iterator[Section]:
    """Yield a section, those below it, and those that contain it."""
    yield sections[place]
    for below in sections[place + 1 :]:
        if below.level <= sections[place].level:
            break
        yield below
    level = sections[place].level
    for above in reversed(sections[:place]):
        if above.level < level:
            level = above.level
            yield above


def untraced(sections: Sequence[Section], place: int, folder: Path = DATA) -> list[str]:
    """Return the numbers of a section's text that are not in its data, its tables or its commands."""
    text = " ".join(sections[place].text)
    code = re.findall(r"`[^`]*`", text)
    for pattern in (r"`[^`]*`", r"!\[[^\]]*\]\([^)]*\)", r"\]\([^)]*\)", r"https?://\S+", NAMES):
        text = re.sub(pattern, " ", text)
    found = list(NUMBER.finditer(text))
    if not found:
        return []
    known = sorted(set(_known(family(sections, place), folder)) | set(_parsed(" ".join(code))))
    return [match[0] for match in found if not _is_known(match, text, known)]


def _known(sections: Iterator[Section], folder: Path) -> Iterator[float]:
    """Yield all numbers of the tables, data and commands of sections."""
    for section in sections:
        yield from _parsed(" ".join(section.code))
        for name in section.tables:
            found = TABLES[name]
            yield from _parsed(" ".join(cell for line in found.lines(folder) for cell in line))
            for file in found.files:
                yield float(len(read_rows(folder / file)))
                yield from _parsed(" ".join(str(read_index(folder)[file].get(key, "")) for key in INDEX_TEXTS))
                for row in read_rows(folder / file):
                    yield from _parsed(" ".join(str(cell) for cell in row.values()))


def _parsed(text: str) -> Iterator[float]:
    for match in re.finditer(r"[−-]?\d[\d,_]*(?:\.\d+)?(?:e-?\d+)?", text):
        yield float(match[0].replace(",", "").replace("_", "").replace("−", "-"))


def _is_known(match: re.Match[str], text: str, known: Sequence[float]) -> bool:
    """Return True if a known number, rounded as in the text, is the one of the text."""
    shown = match[0].rstrip(",").replace(",", "").replace("−", "-")
    unit = re.match(r"\s?(M|%|kB|ms|s|minutes)\b|\s?(%)", text[match.end() :])
    factors = {1.0, UNITS.get((unit[1] or unit[2]) if unit else "", 1.0)}
    digits = len(shown.partition(".")[2])
    half, value = 0.5000001 * 10.0**-digits, float(shown)
    # A positive number of a text may be the size of a negative one.
    for factor in factors:
        for each in known:
            error = abs((each if value < 0 else abs(each)) * factor - value)
            if error <= half * bool(digits or each % 1 or factor != 1) + 1e-9:
                return True
    return False
