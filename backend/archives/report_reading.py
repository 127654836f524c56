"""Import of one report of an archive, in the caller's transaction."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from sqlalchemy.orm import Session

from backend.archives import rows as tables_of
from backend.archives.block_ids import replace_ids
from backend.archives.format import ArchivedItem, rows_of
from backend.archives.opening import GUARDS, Archive
from backend.archives.row_reading import read_row
from backend.archives.shown import find_shown
from backend.database.tables import Report
from backend.reports import service
from backend.reports.schemas import CreateReport
from workers.contract.values import LARGEST_SMALL


class ReportReader:
    """Reads one report of an archive. The maps have the ids here of its runs and studies."""

    def __init__(
        self,
        session: Session,
        archive: Archive,
        entry: ArchivedItem,
        runs: Mapping[int, int],
        studies: Mapping[int, int],
    ) -> None:
        self._session, self._archive, self._entry = session, archive, entry
        self._runs, self._studies = runs, studies
        self._path = rows_of("reports", entry.number, tables_of.REPORT.name)
        self._values: dict[str, Any] = read_row(archive, tables_of.REPORT, self._path)

    def restore(self) -> Report:
        """Store the report. Its blocks get the ids of this installation."""
        report = service.create(self._session, self._content())
        report.created_at, report.updated_at = self._values["created_at"], self._values["updated_at"]
        report.version = min(max(1, self._values["version"]), LARGEST_SMALL)
        self._session.flush()
        return report

    def refresh(self, report_id: int) -> bool:
        """Show imported runs instead of those that were deleted here, unless the report was edited here."""
        report = self._session.get_one(Report, report_id)
        blocks = [block.model_dump(mode="json") for block in self._content().blocks]
        if report.version != self._values["version"] or report.blocks == blocks:
            return False
        report.blocks = blocks
        return True

    def _content(self) -> CreateReport:
        """Return the title and the blocks with the ids of this installation."""
        new = find_shown(self._session, self._archive, self._entry.number, self._runs, self._studies)
        title = self._values["title"]
        try:
            blocks = CreateReport.model_validate({"title": title, "blocks": self._values["blocks"]}).blocks
            dumped = [block.model_dump() for block in replace_ids(blocks, new)]
            # Validate again, because new ids may make a text or an address too long.
            return CreateReport.model_validate({"title": title, "blocks": dumped})
        except ValidationError as error:
            raise GUARDS.invalid(self._path, error) from None
