"""A report as one HTML file that needs nothing else: no server, no other file, no network."""

import base64
import json
import re
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path

from sqlalchemy.orm import Session

from backend.database.columns import utc_now
from backend.database.tables import File, Report
from backend.files.service import files_root
from backend.reports.blocks import ChartBlock, FinishedBlock, ReplayBlock, TextBlock
from backend.reports.markdown import to_html
from backend.reports.schemas import BlockContent, ReplayContent, Table
from backend.web.json_numbers import spelled
from workers.contract.paths import OutsideFolderError, path_inside

# A longer film is shown by its picture.
MOST_VIDEO_BYTES = 8_000_000
# An image in a text that is larger is left out.
MAX_IMAGE_BYTES = 2_000_000
# Of all films and images of a file together.
MOST_BYTES = 64_000_000

_HERE = Path(__file__).parent


class Films:
    """The films and images that still fit into the file."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._left = MOST_BYTES

    def shown(self, replay: ReplayContent) -> str:
        """The film, or its picture with words that say why."""
        film = self._session.get(File, replay.file_id)
        size, picture = self._size(film), self._picture(replay)
        if film and size <= min(MOST_VIDEO_BYTES, self._left) and (address := self._inlined(film, "video/mp4")):
            self._left -= size
            poster = f' poster="{picture}"' if picture else ""
            return f'<video controls loop muted playsinline{poster} src="{address}"></video>'
        shown = f'<img alt="A picture of the replay" src="{picture}">' if picture else ""
        return f"{shown}<p>{_why_no_film(size)}</p>"

    def image(self, file_id: int) -> str | None:
        """Return the address of an image in a text, or None if it is gone, too large or no image."""
        file = self._session.get(File, file_id)
        if file is None or file.kind != "poster" or not 0 < self._size(file) <= min(MAX_IMAGE_BYTES, self._left):
            return None
        self._left -= self._size(file)
        return self._inlined(file, "image/png")

    def _size(self, film: File | None) -> int:
        """How large the film is; nothing where it is gone."""
        return film.bytes if film and self._path(film) else 0

    def _picture(self, replay: ReplayContent) -> str | None:
        poster = self._session.get(File, replay.poster_file_id) if replay.poster_file_id else None
        return self._inlined(poster, "image/png") if poster else None

    def _path(self, file: File) -> Path | None:
        """Return where the file is stored, or None if it is gone or its row names a place outside the data folder."""
        try:
            path = path_inside(files_root(self._session), file.stored_path)
        except OutsideFolderError:
            return None
        return path if path.is_file() else None

    def _inlined(self, file: File, media_type: str) -> str | None:
        path = self._path(file)
        if path is None:
            return None
        return f"data:{media_type};base64,{base64.b64encode(path.read_bytes()).decode()}"


def to_page(session: Session, report: Report, blocks: Sequence[tuple[FinishedBlock, BlockContent]]) -> str:
    """The file; all that people wrote is text in it, and its policy lets no script run but its own two."""
    films = Films(session)
    body = "\n".join(_block(films, place, block, content) for place, (block, content) in enumerate(blocks))
    scripts = [plotly(), (_HERE / "page.js").read_text()] if any(content.figure for _, content in blocks) else []
    return (
        "<!doctype html>\n"
        '<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(report.title)}</title>\n<style>\n{(_HERE / 'page.css').read_text()}</style></head>\n"
        f"<body><main>\n<h1>{escape(report.title)}</h1>\n"
        f'<p class="dim">From Arcadia, as it was at {utc_now():%Y-%m-%d %H:%M} UTC.</p>\n{body}\n</main>\n'
        + "".join(f"<script>{script}</script>\n" for script in scripts)
        + "</body></html>\n"
    )


@cache
def plotly() -> str:
    """The script that draws figures; it comes with the library that builds them, and is of the same version."""
    text = (files("plotly") / "package_data" / "plotly.min.js").read_text(encoding="utf-8")
    return _unclosed(text)


def inline_json(text: str) -> str:
    """JSON as it may stand in a script element: nothing in it is a tag or begins a comment."""
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _unclosed(script: str) -> str:
    return re.sub(r"</(?=script)", r"<\\/", script, flags=re.IGNORECASE)


def _policy(scripts: Sequence[str]) -> str:
    hashes = [f"'sha256-{base64.b64encode(sha256(each.encode()).digest()).decode()}'" for each in scripts]
    ours = " ".join(hashes) or "'none'"
    return (
        f"default-src 'none'; script-src {ours}; style-src 'unsafe-inline'; img-src data: blob:; media-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _block(films: Films, place: int, block: FinishedBlock, content: BlockContent) -> str:
    if isinstance(block, TextBlock):
        return f'<section class="markdown">{to_html(block.markdown, films.image)}</section>'
    kind = "chart" if isinstance(block, ChartBlock) else "replay" if isinstance(block, ReplayBlock) else "table"
    caption = f"<figcaption>{escape(block.caption)}</figcaption>" if block.caption else ""
    missing = f"<p>{escape(content.missing)}</p>" if content.missing else ""
    return f"<figure>{_content(films, place, kind, content)}{missing}{caption}</figure>"


def _content(films: Films, place: int, kind: str, content: BlockContent) -> str:
    if content.figure:
        figure = inline_json(json.dumps({"data": content.figure.data, "layout": content.figure.layout}))
        name = f"figure-{place}"
        return (
            f'<div class="plot" data-figure="{name}" role="img" aria-label="Chart {place + 1}"></div>'
            f'<script type="application/json" id="{name}">{figure}</script>'
        )
    if content.table:
        return _table(content.table)
    if content.replay:
        replay = content.replay
        run = f"{escape(replay.run_name)} #{replay.run_id}"
        return f"{films.shown(replay)}<p>{run} at step {replay.step:,}: return {_number(replay.episode_return)}</p>"
    return f"<p>This {kind} cannot be shown: {escape(content.problem or 'there is nothing.')}</p>"


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(each)}</th>' for each in table.header)
    rows = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in table.rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _cell(value: str | float | None) -> str:
    if isinstance(value, str):
        return f"<td>{escape(value)}</td>"
    return f'<td class="number">{"–" if value is None else _number(value)}</td>'


def _number(value: float) -> str:
    if value != value or value in (float("inf"), float("-inf")):
        return spelled(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.5g}".replace("-", "−")


def _why_no_film(size: int) -> str:
    if not size:
        return "The film is gone."
    if size <= MOST_VIDEO_BYTES:
        return f"The films before this one fill the {MOST_BYTES // 10**6} MB that a file has for films."
    return f"The film, of {size / 1e6:.1f} MB, is too large for this file, which takes {MOST_VIDEO_BYTES // 10**6} MB."
