"""Sizes of the built pages: what the run list needs, and styles of all components."""

import gzip
import re
from pathlib import Path

import pytest

from tests.installation import REPOSITORY

DIST = REPOSITORY / "frontend" / "dist"
MANTINE = REPOSITORY / "frontend" / "node_modules" / "@mantine" / "core" / "styles.css"
# Brotli, as browsers accept it over HTTPS and from this machine.
MAX_BYTES = 250_000
# Charts beside the table load their library later.
NOT_OF_THE_LIST = ("plotly", "PanelCharts", "BulkBar", "Modal")


@pytest.fixture(scope="module")
def assets() -> Path:
    """Return the folder of the built scripts. `make test` builds them."""
    assert (DIST / "index.html").is_file(), "The frontend is not built. Run make setup."
    return DIST / "assets"


def files_of(assets: Path, page: str) -> set[str]:
    """Return the scripts and styles that a browser loads to show a page: those of the entry and of the page's chunk."""
    found: set[str] = set()

    def add(name: str) -> None:
        if name in found or not (assets / name).is_file():
            return
        found.add(name)
        if name.endswith(".js"):
            code = (assets / name).read_text()
            for other in re.findall(r"""(?:from|import)\s*["'`]\./([^"'`]+\.js)["'`]""", code):
                add(other)

    for name in re.findall(r'(?:src|href)="/assets/([^"]+)"', (DIST / "index.html").read_text()):
        add(name)
    entry = "".join((assets / name).read_text() for name in found if name.endswith(".js"))
    # The bundler lists the files of each import beside it.
    listed = re.search(r"m\.f=\[(.*?)\]", entry)
    assert listed, "The entry lists no files of its pages."
    names = [Path(name.strip("\"'`")).name for name in listed[1].split(",")]
    imported = re.search(rf"/({page}-[\w-]+\.js)[^\[\]]{{0,80}}?__vite__mapDeps\(\[([\d,]*)\]", entry)
    assert imported, f"The entry does not import {page}."
    for name in (imported[1], *(names[int(place)] for place in imported[2].split(","))):
        add(name)
    return found


def test_the_run_list_needs_at_most_250_kb(assets: Path) -> None:
    files = files_of(assets, "RunsPage")
    assert not [name for name in files if name.startswith(NOT_OF_THE_LIST)]
    sizes = {name: sent_bytes(assets / name) for name in files}
    assert any(name.startswith("RunsPage") and name.endswith(".css") for name in files)
    assert sum(sizes.values()) <= MAX_BYTES, sorted(sizes.items(), key=lambda item: -item[1])[:10]


def test_a_page_loads_no_code_of_another_page(assets: Path) -> None:
    pages = {path.name.split("-")[0] for path in assets.glob("*Page-*.js")}
    for page in ("RunsPage", "RunPage", "ComparePage"):
        others = {name for name in files_of(assets, page) if name.split("-")[0] in pages - {page}}
        assert not others, (page, others)


def test_each_shown_component_has_its_styles(assets: Path) -> None:
    scripts = "".join(path.read_text() for path in assets.glob("*.js"))
    styles = "".join(path.read_text() for path in assets.glob("*.css"))
    known = set(re.findall(r"\.(m_[0-9a-f]+)", MANTINE.read_text()))
    used = set(re.findall(r"\bm_[0-9a-f]+", scripts)) & known
    missing = used - set(re.findall(r"\.(m_[0-9a-f]+)", styles))
    assert used
    assert not missing, f"theme/mantine.css lacks the styles of {sorted(missing)}."


def test_large_files_have_compressed_copies(assets: Path) -> None:
    for path in (*assets.glob("*.js"), *assets.glob("*.css")):
        if path.stat().st_size >= 1_000:
            assert gzip.decompress(path.with_name(f"{path.name}.gz").read_bytes()) == path.read_bytes()
            assert path.with_name(f"{path.name}.br").stat().st_size < path.stat().st_size


def sent_bytes(path: Path) -> int:
    """Return the size of what the server sends."""
    copy = path.with_name(f"{path.name}.br")
    return (copy if copy.is_file() else path).stat().st_size
