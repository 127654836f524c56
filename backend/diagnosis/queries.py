"""Findings of a run from the anomalies of its metrics, and the studies that test their fixes."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.configuration import configs
from backend.database.tables import Run, Study
from backend.diagnosis.fixes import suggest
from backend.diagnosis.schemas import Evidence, Finding, FixTest, SuggestedSetting
from backend.errors import Invalid
from backend.marks.queries import read_anomalies
from backend.marks.rules import RULES
from backend.marks.signals import Anomaly
from backend.studies import points
from backend.studies.specification import MAX_SEED, Axis, DiagnosedRun, Specification
from backend.studies.verdicts import read_verdict
from workers.contract.config import RunConfig
from workers.contract.inference.means import MIN_RUNS
from workers.contract.metrics import named

# Below normal studies, so that a test never delays them.
TEST_PRIORITY = -100
# A test trains as long as the run if the evidence reaches this share of it.
WHOLE_SHARE = 0.9

_CAUSES = {rule.info.name: rule.info.cause for rule in RULES}


def read_findings(session: Session, run: Run) -> list[Finding]:
    """Return the findings of a run, one per rule, in order of their steps."""
    first: dict[str, Anomaly] = {}
    for anomaly in sorted(read_anomalies(session, run), key=lambda each: each.step):
        if _CAUSES[anomaly.rule]:
            first.setdefault(anomaly.rule, anomaly)
    tests = _read_tests(session, run) if first else {}
    config = _config(run)
    return [_finding(run, config, anomaly, tests.get(anomaly.rule, ())) for anomaly in first.values()]


def _config(run: Run) -> RunConfig | None:
    """Return the configuration, or None if the run is not of a method of Arcadia."""
    try:
        return configs.validate(run.config, {})
    except Invalid:
        return None


def _finding(run: Run, config: RunConfig | None, anomaly: Anomaly, tests: Sequence[FixTest]) -> Finding:
    changes = suggest(anomaly.rule, config) if config else {}
    return Finding(
        rule=anomaly.rule,
        title=anomaly.title,
        cause=_CAUSES[anomaly.rule] or "",
        detail=anomaly.detail,
        evidence=Evidence(
            metric=anomaly.metric,
            title=named(anomaly.metric).title,
            first_step=anomaly.step,
            last_step=anomaly.last_step,
        ),
        settings=[_setting(config, field, value) for field, value in changes.items()] if config else [],
        test=_test(run, config, anomaly, changes) if config and changes else None,
        tests=[*tests],
    )


def _setting(config: RunConfig, field: str, value: Any) -> SuggestedSetting:
    title = type(config).model_fields[field].title or field
    return SuggestedSetting(field=field, title=title, current=configs.to_document(config)[field], suggested=value)


def _test(run: Run, config: RunConfig, anomaly: Anomaly, changes: Mapping[str, Any]) -> Specification | None:
    """Return the smallest study that can decide whether the changes help, or None if it is not valid."""
    document = configs.to_document(config)
    current = [document[field] for field in changes]
    is_single = len(changes) == 1
    axis = Axis(
        field=next(iter(changes)) if is_single else [*changes],
        values=[current[0], *changes.values()] if is_single else [current, [*changes.values()]],
    )
    first_seed = min(config.seed, MAX_SEED - MIN_RUNS + 1)
    spec = Specification(
        name=f"Fix of run {run.id}: {anomaly.title}",
        question=f"Do other settings fix [run {run.id}](/runs/{run.id})? {anomaly.title}: {anomaly.detail}",
        config=document,
        axes=[axis],
        seeds=[*range(first_seed, first_seed + MIN_RUNS)],
        total_steps=_test_steps(config, anomaly),
        priority=TEST_PRIORITY,
        diagnosis=DiagnosedRun(run_id=run.id, rule=anomaly.rule),
    )
    try:
        points.validate(spec)
    except Invalid:
        return None
    return spec


def _test_steps(config: RunConfig, anomaly: Anomaly) -> int:
    """Return the steps of the evidence, because no shorter training shows the fault."""
    is_whole = anomaly.last_step >= WHOLE_SHARE * config.total_steps
    return config.total_steps if is_whole else max(1, anomaly.last_step)


def _read_tests(session: Session, run: Run) -> dict[str, list[FixTest]]:
    """Return the studies that test fixes of the run by rule, newest first."""
    run_id = Study.specification["diagnosis", "run_id"].as_integer()
    found: dict[str, list[FixTest]] = {}
    for study in session.scalars(select(Study).where(run_id == run.id).order_by(Study.id.desc())):
        verdict = read_verdict(session, study).text if study.state == "finished" else None
        test = FixTest(study_id=study.id, name=study.name, state=study.state, verdict=verdict)
        found.setdefault(study.specification["diagnosis"]["rule"], []).append(test)
    return found
