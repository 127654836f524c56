"""Fields and metrics of reported runs, which only the database knows."""

from collections.abc import Iterable

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from backend.database.tables import Run
from backend.metrics.models import MetricSeries
from backend.runs.expressions.names import COLUMN_BY_NAME, setting_kinds
from backend.runs.expressions.parsing import Parsed
from backend.runs.expressions.problems import ExpressionError, did_you_mean, shortened, similar
from backend.runs.expressions.sql import Translator
from workers.contract.metrics import CATALOG

# The newest reported runs, in which suggestions are looked for.
EXAMINED_RUNS = 200
CATALOG_TITLES = {metric.name: metric.title for section in CATALOG for metric in section.all_metrics}


def require_known(session: Session, parsed: Parsed) -> None:
    """Raise ExpressionError if no run has a field or a metric of the expression."""
    settings = Translator(session).settings
    for setting, span in parsed.settings:
        if not session.scalar(select(exists().where(~settings.is_missing(setting.name)))):
            close = similar(setting.name, [*COLUMN_BY_NAME, *setting_names(session)])
            message = f"no run has a value {shortened(setting.name)!r}{did_you_mean(close)}"
            raise ExpressionError(message, span, close)
    for metric, span in parsed.metrics:
        if metric.name in CATALOG_TITLES or session.scalar(select(exists().where(MetricSeries.name == metric.name))):
            continue
        close = similar(metric.name, metric_titles(session))
        message = f"no run has a metric {shortened(metric.name)!r}{did_you_mean(close)}"
        raise ExpressionError(message, span, [f"{metric.statistic}({name})" for name in close])


def setting_names(session: Session) -> list[str]:
    """Return the fields of all methods, then those of the newest reported runs."""
    newest = select(Run.config).where(Run.origin != "trained").order_by(Run.id.desc()).limit(EXAMINED_RUNS)
    reported = (name for config in session.scalars(newest) for name in config)
    return list(dict.fromkeys([*setting_kinds(), *reported]))


def metric_titles(session: Session) -> dict[str, str]:
    """Return the titles of the metrics of the catalog, then of those of the newest reported runs."""
    newest = select(Run.id).where(Run.origin != "trained").order_by(Run.id.desc()).limit(EXAMINED_RUNS)
    stored: Iterable[str] = session.scalars(
        select(MetricSeries.name).where(MetricSeries.run_id.in_(newest)).distinct().order_by(MetricSeries.name)
    )
    return CATALOG_TITLES | {name: name for name in stored if name not in CATALOG_TITLES}
