"""Ids in the blocks of a report: found for an export, and replaced after an import."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pydantic import BaseModel, TypeAdapter, ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.archives.format import Archive, read_lines, rows_of
from arcadia_backend.database.tables import Evaluation, File, Replay
from arcadia_backend.reports import schemas
from arcadia_backend.reports.markdown import image_files, replace_image_files
from arcadia_backend.reports.schemas import (
    AnyBlock,
    BlockOfReplay,
    ChartBlock,
    DraftBlock,
    FigureIds,
    FinishedBlock,
    TableBlock,
    TextBlock,
)
from arcadia_workers.contract.events import Sha256
from arcadia_workers.contract.values import Id, Seed

_FINISHED: TypeAdapter[FinishedBlock] = TypeAdapter(FinishedBlock)
# Fields of blocks that have ids.
_ID_FIELDS = ("address", "numbers", "replay")


@dataclass(frozen=True)
class BlockIds:
    """Ids that blocks refer to."""

    runs: set[int] = field(default_factory=set)
    studies: set[int] = field(default_factory=set)
    replays: set[int] = field(default_factory=set)
    files: set[int] = field(default_factory=set)
    evaluations: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class NewIds:
    """Ids of this installation by those of the exporting one. Items that were deleted there have none."""

    runs: Mapping[int, int]
    studies: Mapping[int, int]
    replays: Mapping[int, int]
    files: Mapping[int, int]
    evaluations: Mapping[int, int]


def find_ids(blocks: Iterable[AnyBlock]) -> BlockIds:
    """Return the ids in blocks, also in drafts of complete ones."""
    ids = BlockIds()
    for block in blocks:
        _collect(_read_draft(block) if isinstance(block, DraftBlock) else block, ids)
    return ids


def replace_ids(blocks: Iterable[AnyBlock], new: NewIds) -> list[AnyBlock]:
    """Return blocks with new ids. A block of deleted items becomes a text that says so."""
    return [
        _replace_in_draft(block, new) if isinstance(block, DraftBlock) else _replace(block, new) for block in blocks
    ]


def _collect(block: FinishedBlock | None, named: BlockIds) -> None:
    if isinstance(block, TextBlock):
        named.files.update(image_files(block.markdown))
    elif isinstance(block, ChartBlock):
        ids = schemas.ids_in(block.address)
        named.runs.update(ids.runs)
        named.studies.update(_listed(ids.study))
        named.evaluations.update(_listed(ids.evaluation))
    elif isinstance(block, TableBlock):
        (named.studies if block.of == "study" else named.runs).update(block.numbers)
    elif isinstance(block, BlockOfReplay):
        named.replays.add(block.replay)


def _replace(block: FinishedBlock, new: NewIds) -> FinishedBlock:
    if isinstance(block, TextBlock):
        return block.model_copy(update={"markdown": replace_image_files(block.markdown, new.files)})
    if isinstance(block, ChartBlock):
        address = _replace_in_address(block.address, new)
        return _deleted(block) if address is None else block.model_copy(update={"address": address})
    if isinstance(block, TableBlock):
        numbers = _known(block.numbers, new.studies if block.of == "study" else new.runs)
        return block.model_copy(update={"numbers": numbers}) if numbers else _deleted(block)
    replay = new.replays.get(block.replay)
    return _deleted(block) if replay is None else block.model_copy(update={"replay": replay})


def _replace_in_address(address: str, new: NewIds) -> str | None:
    """Return the address with new ids, or None if nothing would be left of its figure."""
    ids = schemas.ids_in(address)
    runs = _known(ids.runs, new.runs)
    (study,) = _known(_listed(ids.study), new.studies) or (None,)
    (evaluation,) = _known(_listed(ids.evaluation), new.evaluations) or (None,)
    kept = FigureIds(runs, study, evaluation)
    had = (bool(ids.runs), ids.study is not None, ids.evaluation is not None)
    if had != (bool(kept.runs), kept.study is not None, kept.evaluation is not None):
        return None
    return schemas.replace_ids(address, kept)


def _replace_in_draft(block: DraftBlock, new: NewIds) -> DraftBlock:
    complete = _read_draft(block)
    if complete is not None:
        return block.model_copy(update={"content": _replace(complete, new).model_dump_json()})
    content = replace_image_files(block.content, new.files)
    document = _parse(content)
    if isinstance(document, dict):
        # The ids of an incomplete block may be of anything.
        content = json.dumps({name: value for name, value in document.items() if name not in _ID_FIELDS})
    return block.model_copy(update={"content": content})


def _read_draft(block: DraftBlock) -> FinishedBlock | None:
    """Return the block in a draft, or None if it is incomplete."""
    try:
        return _FINISHED.validate_python(_parse(block.content))
    except ValidationError:
        return None


def _parse(content: str) -> Any:
    """Return the JSON of a draft. Another program may have written a text instead."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content


def _deleted(block: ChartBlock | TableBlock | BlockOfReplay) -> TextBlock:
    sentence = f"*The {block.kind} is missing, because its data were deleted before the export.*"
    return TextBlock(kind="text", markdown=f"{sentence} {block.caption}".strip())


def _known(ids: Iterable[int], new: Mapping[int, int]) -> list[int]:
    return list(dict.fromkeys(new[each] for each in ids if each in new))


def _listed(given: int | None) -> Sequence[int]:
    return () if given is None else (given,)


class ShownReplay(BaseModel):
    """A replay of a run. `id` and `run` are ids of the exporting installation."""

    id: Id
    run: Id
    attempt: int
    file: str


class ShownFile(BaseModel):
    """An image of a run."""

    id: Id
    run: Id
    sha256: Sha256


class ShownEvaluation(BaseModel):
    """An evaluation of a run's checkpoint."""

    id: Id
    run: Id
    sha256: Sha256
    protocol: str
    acting: dict[str, Any]
    seed: Seed


class Shown(NamedTuple):
    """Objects of runs that reports show."""

    replays: Sequence[ShownReplay]
    files: Sequence[ShownFile]
    evaluations: Sequence[ShownEvaluation]

    @property
    def runs(self) -> list[int]:
        """Return the runs that they belong to."""
        return [each.run for items in self for each in items]


def describe(session: Session, ids: BlockIds) -> Shown:
    """Return the description of what blocks show, as far as it exists."""
    replays = session.scalars(select(Replay).where(Replay.id.in_(ids.replays)).order_by(Replay.id))
    in_runs = File.run_id.is_not(None)
    files = session.scalars(select(File).where(File.id.in_(ids.files), in_runs).order_by(File.id))
    evaluations = session.scalars(select(Evaluation).where(Evaluation.id.in_(ids.evaluations)).order_by(Evaluation.id))
    return Shown(
        [ShownReplay(id=each.id, run=each.run_id, attempt=each.attempt, file=each.file) for each in replays],
        [ShownFile(id=each.id, run=each.run_id, sha256=each.sha256) for each in files if each.run_id is not None],
        [
            ShownEvaluation(
                id=each.id,
                run=each.run_id,
                sha256=each.sha256,
                protocol=each.protocol,
                acting=each.acting,
                seed=each.seed,
            )
            for each in evaluations
        ],
    )


def find_shown(
    session: Session, archive: Archive, number: int, runs: Mapping[int, int], studies: Mapping[int, int]
) -> NewIds:
    """Return the ids here of all that a report of the archive shows."""
    replays = read_lines(archive, ShownReplay, rows_of("reports", number, "replays"))
    files = read_lines(archive, ShownFile, rows_of("reports", number, "files"))
    evaluations = read_lines(archive, ShownEvaluation, rows_of("reports", number, "evaluations"))
    ids = (
        {each.id: _find_replay(session, runs.get(each.run), each) for each in replays},
        {each.id: _find_file(session, runs.get(each.run), each) for each in files},
        {each.id: _find_evaluation(session, runs.get(each.run), each) for each in evaluations},
    )
    return NewIds(runs, studies, *({old: new for old, new in each.items() if new is not None} for each in ids))


def _find_replay(session: Session, run_id: int | None, shown: ShownReplay) -> int | None:
    is_shown = (Replay.run_id == run_id, Replay.attempt == shown.attempt, Replay.file == shown.file)
    return session.scalar(select(Replay.id).where(*is_shown))


def _find_file(session: Session, run_id: int | None, shown: ShownFile) -> int | None:
    is_shown = (File.run_id == run_id, File.sha256 == shown.sha256)
    return session.scalar(select(File.id).where(*is_shown).order_by(File.id).limit(1)) if run_id else None


def _find_evaluation(session: Session, run_id: int | None, shown: ShownEvaluation) -> int | None:
    is_shown = (Evaluation.run_id == run_id, Evaluation.sha256 == shown.sha256, Evaluation.seed == shown.seed)
    query = select(Evaluation.id, Evaluation.protocol, Evaluation.acting).where(*is_shown).order_by(Evaluation.id)
    wanted = (shown.protocol, shown.acting)
    return next((row.id for row in session.execute(query) if (row.protocol, row.acting) == wanted), None)
