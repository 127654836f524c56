"""Export of a report as one self-contained HTML file."""

import base64
import re
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path

from sqlalchemy.orm import Session

from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.tables import File, Report
from arcadia_backend.files.service import files_root
from arcadia_backend.reports.markdown import to_html
from arcadia_backend.reports.schemas import (
    BlockContent,
    FinishedBlock,
    PracticeContent,
    ReplayContent,
    ReportTable,
    ReviewContent,
    TextBlock,
)
from arcadia_backend.web.formats import spelled
from arcadia_workers.contract.layout import OutsideFolderError, path_inside
from arcadia_workers.contract.practice import ArmName, describe_verdict
from arcadia_workers.contract.review import ReviewedDecision

# A larger video is replaced by its thumbnail.
MAX_VIDEO_BYTES = 8_000_000
# A larger image in a text is left out.
MAX_IMAGE_BYTES = 2_000_000
# Limit for all videos and images of a file.
MAX_MEDIA_BYTES = 64_000_000

_HERE = Path(__file__).parent


class InlineMedia:
    """Encoder of videos and images as data URLs, up to a total size."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._left = MAX_MEDIA_BYTES

    def render_replay(self, replay: ReplayContent) -> str:
        """Return the video element, or the thumbnail with the reason why there is no video."""
        video = self._session.get(File, replay.file_id)
        poster_file = self._session.get(File, replay.poster_file_id) if replay.poster_file_id else None
        size, thumbnail = self._size(video), self._encode(poster_file, "image/png") if poster_file else None
        if video and size <= min(MAX_VIDEO_BYTES, self._left) and (address := self._encode(video, "video/mp4")):
            self._left -= size
            poster = f' poster="{thumbnail}"' if thumbnail else ""
            return f'<video controls loop muted playsinline{poster} src="{address}"></video>'
        image = f'<img alt="Thumbnail of the replay" src="{thumbnail}">' if thumbnail else ""
        return f"{image}<p>{_missing_video_reason(size)}</p>"

    def image(self, file_id: int) -> str | None:
        """Return an image in a text as a data URL, or None if it is missing, too large or not an image."""
        file = self._session.get(File, file_id)
        if file is None or file.kind != "poster" or not 0 < self._size(file) <= min(MAX_IMAGE_BYTES, self._left):
            return None
        self._left -= self._size(file)
        return self._encode(file, "image/png")

    def _size(self, file: File | None) -> int:
        """Return the size of the file, or 0 if it is missing."""
        return file.bytes if file and self._path(file) else 0

    def _path(self, file: File) -> Path | None:
        """Return the path of the file, or None if it is missing or outside the data folder."""
        try:
            path = path_inside(files_root(self._session), file.stored_path)
        except OutsideFolderError:
            return None
        return path if path.is_file() else None

    def _encode(self, file: File, media_type: str) -> str | None:
        path = self._path(file)
        if path is None:
            return None
        return f"data:{media_type};base64,{base64.b64encode(path.read_bytes()).decode()}"


def render_page(session: Session, report: Report, blocks: Sequence[tuple[FinishedBlock, BlockContent]]) -> str:
    """Render the HTML file. User text is escaped, and the security policy allows only the file's own scripts."""
    media = InlineMedia(session)
    body = "\n".join(_render_block(media, index, block, content) for index, (block, content) in enumerate(blocks))
    scripts = [plotly(), (_HERE / "page.js").read_text()] if any(content.figure for _, content in blocks) else []
    return (
        "<!doctype html>\n"
        '<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(report.title)}</title>\n<style>\n{(_HERE / 'page.css').read_text()}</style></head>\n"
        f"<body><main>\n<h1>{escape(report.title)}</h1>\n"
        f'<p class="dim">Exported from Arcadia at {utc_now():%Y-%m-%d %H:%M} UTC.</p>\n{body}\n</main>\n'
        + "".join(f"<script>{script}</script>\n" for script in scripts)
        + "</body></html>\n"
    )


@cache
def plotly() -> str:
    """Return the script that draws figures, in the version of the library that builds them."""
    text = (files("plotly") / "package_data" / "plotly.min.js").read_text(encoding="utf-8")
    return re.sub(r"</(?=script)", r"<\\/", text, flags=re.IGNORECASE)  # it must not end the script element


def inline_json(text: str) -> str:
    """Escape JSON for a script element, so that it contains no tags or comments."""
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _policy(scripts: Sequence[str]) -> str:
    hashes = [f"'sha256-{base64.b64encode(sha256(each.encode()).digest()).decode()}'" for each in scripts]
    allowed = " ".join(hashes) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; media-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _render_block(media: InlineMedia, index: int, block: FinishedBlock, content: BlockContent) -> str:
    if isinstance(block, TextBlock):
        return f'<section class="markdown">{to_html(block.markdown, media.image)}</section>'
    caption = f"<figcaption>{escape(block.caption)}</figcaption>" if block.caption else ""
    missing = f"<p>{escape(content.missing)}</p>" if content.missing else ""
    return f"<figure>{_render_content(media, index, block.kind, content)}{missing}{caption}</figure>"


def _render_content(media: InlineMedia, index: int, kind: str, content: BlockContent) -> str:
    if content.figure:
        figure = inline_json(content.figure.model_dump_json(include={"data", "layout"}))
        name = f"figure-{index}"
        return (
            f'<div class="plot" data-figure="{name}" role="img" aria-label="Chart {index + 1}"></div>'
            f'<script type="application/json" id="{name}">{figure}</script>'
        )
    if content.table:
        return _render_table(content.table)
    if content.replay:
        replay = content.replay
        run = f"{escape(replay.run_name)} #{replay.run_id}"
        episode_return = _format_number(replay.episode_return)
        return f"{media.render_replay(replay)}<p>{run} at step {replay.step:,}: return {episode_return}</p>"
    if content.review:
        return _render_review(content.review)
    if content.practice:
        return _render_practice(content.practice)
    return f"<p>This {kind} cannot be shown: {escape(content.problem or 'it is empty.')}</p>"


MISTAKE_HEADER = ["Decision", "Played", "Better", "Loss", "95 % from", "95 % to"]
MARKS = {"mistake": ("#c9381a", 30), "not shown": ("#6f747e", 10), "no challenger": ("#6f747e", 10)}
MARK_OPEN = ("#b9bec6", 10)


def _render_review(review: ReviewContent) -> str:
    """Return the marks of a review along its replay, the sum of the losses, and the mistakes."""
    found = review.document
    reviewed = sorted(found.reviewed, key=lambda each: each.decision)
    marks = []
    for each in reviewed:
        color, height = MARKS.get(each.finding, MARK_OPEN)
        at = 1_000 * (each.decision + 0.5) / found.decisions
        marks.append(f'<rect x="{at - 2:.1f}" y="{32 - height}" width="4" height="{height}" fill="{color}"/>')
    mistakes = [each for each in reviewed if each.finding == "mistake"]
    lost = sum(each.loss.mean or 0 for each in mistakes if each.loss)
    rows = [[each.decision + 1, each.taken, each.better, *_loss_cells(each)] for each in mistakes]
    run = f"{escape(review.run_name)} #{review.run_id}"
    return (
        f'<svg viewBox="0 0 1000 32" role="img" aria-label="Reviewed decisions" width="100%">{"".join(marks)}</svg>'
        f"<p>{run} at step {review.step:,}: return {_format_number(review.episode_return)}. "
        f"{_count(mistakes, 'mistake')} in {len(reviewed):,} reviewed of {found.decisions:,} decisions, with a loss of "
        f"up to {_format_number(lost)} "
        f"({found.simulations:,} simulated futures).</p>"
        '<p class="dim">Red: mistakes. Gray: no mistake shown. Light: not finished. Gaps were not looked at.</p>'
        + (_render_table(ReportTable(header=MISTAKE_HEADER, rows=rows)) if rows else "")
    )


QUESTIONS = {"mistakes": "Did these mistakes become rarer?", "score": "Did the score rise?"}
UNITS = {"moment": "kept mistakes", "episode": "evaluation episodes", "pair": "pairs"}
PRACTICE_HEADER = ["", "Control", "Practice", "Difference", "95 % from", "95 % to"]


def _render_practice(practice: PracticeContent) -> str:
    """Return the two verdicts on practice, and the table of both arms."""
    found = practice.document

    def mean(name: ArmName, field: str) -> float:
        values: list[float] = [getattr(arm, field) for arm in found.arms if arm.name == name]
        return sum(values) / len(values)

    verdicts = "".join(
        f"<p><strong>{question}</strong> {escape(describe_verdict(difference).capitalize())} "
        f"({difference.count:,} {UNITS[difference.unit]}).</p>"
        for name, question in QUESTIONS.items()
        for difference in [getattr(found, name)]
    )
    rows: list[list[str | int | float | None]] = [
        [
            label,
            mean("control", field),
            mean("practice", field),
            difference.mean,
            *(difference.interval or (None, None)),
        ]
        for label, field, difference in (
            ("Outcome at kept mistakes", "outcome", found.mistakes),
            ("Probability of repeating them", "probability", found.repeated),
            ("Score", "score", found.score),
        )
    ]
    run = f"{escape(practice.run_name)} #{practice.run_id}"
    return (
        f"{verdicts}{_render_table(ReportTable(header=PRACTICE_HEADER, rows=rows))}"
        f"<p>{run} at step {practice.step:,}: {_count(found.practiced, 'mistake')} practiced, "
        f"{_count(found.held_out, 'mistake')} kept, {found.steps:,} steps each.</p>"
    )


def _count(items: Sequence[object], noun: str) -> str:
    return f"{len(items):,} {noun}{'' if len(items) == 1 else 's'}"


def _loss_cells(mistake: ReviewedDecision) -> Sequence[float | None]:
    """Return the loss and its interval, as far as they are measured."""
    loss = mistake.loss
    return (loss.mean, *(loss.interval or (None, None))) if loss else (None, None, None)


def _render_table(table: ReportTable) -> str:
    head = "".join(f'<th scope="col">{escape(each)}</th>' for each in table.header)
    rows = "".join(f"<tr>{''.join(map(_render_cell, row))}</tr>" for row in table.rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _render_cell(value: str | float | None) -> str:
    if isinstance(value, str):
        return f"<td>{escape(value)}</td>"
    return f'<td class="number">{"–" if value is None else _format_number(value)}</td>'


def _format_number(value: float) -> str:
    if value != value or value in (float("inf"), float("-inf")):
        return spelled(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.5g}".replace("-", "−")


def _missing_video_reason(size: int) -> str:
    if not size:
        return "The video was deleted."
    if size <= MAX_VIDEO_BYTES:
        return f"The video is left out: earlier videos use all {MAX_MEDIA_BYTES // 10**6} MB that a file may contain."
    return f"The video is too large: {size / 1e6:.1f} MB, and the limit is {MAX_VIDEO_BYTES // 10**6} MB."
