"""docs/ways.md lists the files that requests pass."""

import re
from pathlib import Path

from bench.ways import PAGE, ROOT, TITLES, trace_ways


def test_the_page_has_the_traced_files(tmp_path: Path) -> None:
    sections = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]
    written = {part.partition("\n")[0]: set(re.findall(r"^\| `([^`]+)`", part, re.MULTILINE)) for part in sections}
    traced = {
        TITLES[name]: {str(path.relative_to(ROOT)) for path in way.functions}
        for name, way in trace_ways(tmp_path).items()
    }
    assert written == traced, "Write the page again: python -m bench.ways --write"
