"""Diagnosis of a run: why it does not learn, which settings may help, and studies that test them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field, JsonValue
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend import configuration
from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import Run, Study, StudyState
from arcadia_backend.errors import Invalid
from arcadia_backend.marks.queries import read_anomalies
from arcadia_backend.marks.rules import RULES
from arcadia_backend.marks.signals import Anomaly, RuleName
from arcadia_backend.studies import points
from arcadia_backend.studies.queries import read_verdict
from arcadia_backend.studies.specification import MAX_SEED, Axis, DiagnosedRun, Specification
from arcadia_backend.web.lookup import PathRun
from arcadia_workers.contract.config import RunConfig
from arcadia_workers.contract.inference.means import MIN_RUNS
from arcadia_workers.contract.metrics import named
from arcadia_workers.contract.presets import PRESETS


class Evidence(BaseModel):
    """Where a curve shows a finding."""

    metric: str
    title: str = Field(description="Title of the metric.")
    first_step: int
    last_step: int


class SuggestedSetting(BaseModel):
    """A field of the configuration that may fix a finding."""

    field: str
    title: str
    current: JsonValue
    suggested: JsonValue


class FixTest(BaseModel):
    """A study that tests the suggested settings of a finding."""

    study_id: int
    name: str
    state: StudyState
    verdict: str | None = Field(description="Null until the study has finished.")


class Finding(BaseModel):
    """A fault of a run, with its cause, its evidence and the settings that may fix it."""

    rule: RuleName
    title: str
    cause: str
    detail: str
    evidence: Evidence
    settings: list[SuggestedSetting] = Field(description="Empty if no setting fixes it.")
    test: Specification | None = Field(
        description="Study of the current against the suggested settings, for POST /studies. Null if there is none."
    )
    tests: list[FixTest] = Field(description="Studies that test it, newest first.")


Changes = dict[str, Any]

SMALLER_RATE = 3.0
# Another learning rate is only suggested if it differs by this factor.
DIFFERENT_RATE = 2.0
# A rate that is this much larger than in a preset is the cause of a collapse.
ABSURD_RATE = 10.0
MORE_ENTROPY, USUAL_ENTROPY_COST, MAX_ENTROPY_COST = 3.0, 0.01, 10.0
USUAL_VALUE_COST, LOW_VALUE_COST = 0.5, 0.05
USUAL_GRADIENT_LIMIT, LOOSE_LIMIT = 0.5, 10.0
SHORT_QUEUE = 2
# ε reaches its final value after this share of the steps.
ANNEALED_SHARE = 0.1
LOW_EPSILON = 0.1


def suggest(rule: RuleName, config: RunConfig) -> Changes:
    """Return settings that may fix what the rule found, or nothing."""
    suggest_settings = _FIXES.get(rule)
    if suggest_settings is None:
        return {}
    current = configuration.to_document(config)
    changes = {
        field: value
        for field, value in suggest_settings(config).items()
        if field in current and value != current[field]
    }
    try:
        configuration.override(current, changes)
    except Invalid:
        return {}
    return changes


def _usual(config: RunConfig, field: str) -> Any:
    """Return the value in a preset of the same method, for the same environment if possible, or None."""
    presets = [preset.config for preset in PRESETS.values() if preset.config.algorithm == config.algorithm]
    presets.sort(key=lambda preset: (preset.env != config.env, preset.environment.family != config.environment.family))
    return getattr(presets[0], field, None) if presets else None


def _smaller_rate(config: RunConfig) -> Changes:
    usual = _usual(config, "learning_rate")
    is_smaller = usual is not None and usual * DIFFERENT_RATE <= config.learning_rate
    return {"learning_rate": usual if is_smaller else _rounded(config.learning_rate / SMALLER_RATE)}


def _usual_rate(config: RunConfig) -> Changes:
    """Return the learning rate of a preset if it differs clearly, or else a smaller one."""
    usual = _usual(config, "learning_rate")
    if usual is None or 1 / DIFFERENT_RATE < usual / config.learning_rate < DIFFERENT_RATE:
        return _smaller_rate(config)
    return {"learning_rate": usual}


def _more_entropy(config: RunConfig) -> Changes:
    usual_rate = _usual(config, "learning_rate")
    if usual_rate is not None and config.learning_rate >= ABSURD_RATE * usual_rate:
        return {"learning_rate": usual_rate}
    cost = getattr(config, "entropy_cost", 0.0)
    usual = _usual(config, "entropy_cost") or USUAL_ENTROPY_COST
    return {"entropy_cost": _rounded(min(MAX_ENTROPY_COST, max(MORE_ENTROPY * cost, usual)))}


def _better_values(config: RunConfig) -> Changes:
    cost = getattr(config, "value_cost", None)
    if cost is None or cost >= LOW_VALUE_COST:
        return _usual_rate(config)
    return {"value_cost": max(_usual(config, "value_cost") or 0.0, USUAL_VALUE_COST)}


def _open_layers(config: RunConfig) -> Changes:
    return {**_smaller_rate(config), "centered_inputs": True}


def _smaller_gradients(config: RunConfig) -> Changes:
    usual = _usual(config, "max_grad_norm") or USUAL_GRADIENT_LIMIT
    return {"max_grad_norm": usual} if config.max_grad_norm >= LOOSE_LIMIT * usual else _smaller_rate(config)


def _less_lag(config: RunConfig) -> Changes:
    queue = getattr(config, "training_queue_rollouts", SHORT_QUEUE)
    if queue != SHORT_QUEUE:
        return {"training_queue_rollouts": SHORT_QUEUE}
    return {field: max(1, getattr(config, field, 1) // 2) for field in ("num_agents", "num_actors")}


def _later_decay(config: RunConfig) -> Changes:
    return {"learning_rate_decay": "late" if config.learning_rate_decay == "linear" else "none"}


def _other_clipping(config: RunConfig) -> Changes:
    return {"clip_rewards": not config.clip_rewards}


def _faster_annealing(config: RunConfig) -> Changes:
    """Return a shorter annealing, or a lower final ε if the annealing is short already."""
    frames = int(ANNEALED_SHARE * config.total_steps * config.environment.frames_per_step)
    updates = int(ANNEALED_SHARE * config.total_steps / config.t_max)
    for field, limit in (("epsilon_anneal_frames", frames), ("epsilon_anneal_updates", updates)):
        if getattr(config, field, 0) > limit:
            return {field: limit}
    return {"final_epsilons": [LOW_EPSILON], "final_epsilon_probabilities": [1.0], "final_epsilon": LOW_EPSILON}


def _rounded(value: float) -> float:
    return float(f"{value:.2g}")


_FIXES: Mapping[RuleName, Callable[[RunConfig], Changes]] = {
    "entropy_collapsed": _more_entropy,
    "return_collapsed": _smaller_rate,
    "loss_exploded": _smaller_rate,
    "not_a_number": _smaller_rate,
    "return_stalled": _usual_rate,
    "value_uninformative": _better_values,
    "layer_dead": _open_layers,
    "gradient_exploded": _smaller_gradients,
    "policy_lag": _less_lag,
    "learning_rate_spent": _later_decay,
    "reward_scale": _other_clipping,
    "epsilon_stuck": _faster_annealing,
}


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
        return configuration.validate(run.config, {})
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
    return SuggestedSetting(field=field, title=title, current=configuration.to_document(config)[field], suggested=value)


def _test(run: Run, config: RunConfig, anomaly: Anomaly, changes: Mapping[str, Any]) -> Specification | None:
    """Return the smallest study that can decide whether the changes help, or None if it is not valid."""
    document = configuration.to_document(config)
    current = [document[field] for field in changes]
    is_single = len(changes) == 1
    axis = Axis(
        field=next(iter(changes)) if is_single else [*changes],
        values=[current[0], *changes.values()] if is_single else [current, [*changes.values()]],
    )
    first_seed = min(config.seed, MAX_SEED - MIN_RUNS + 1)
    # The steps of the evidence, because no shorter training shows the fault.
    is_whole = anomaly.last_step >= WHOLE_SHARE * config.total_steps
    spec = Specification(
        name=f"Fix of run {run.id}: {anomaly.title}",
        question=f"Do other settings fix [run {run.id}](/runs/{run.id})? {anomaly.title}: {anomaly.detail}",
        config=document,
        axes=[axis],
        seeds=[*range(first_seed, first_seed + MIN_RUNS)],
        total_steps=config.total_steps if is_whole else max(1, anomaly.last_step),
        priority=TEST_PRIORITY,
        diagnosis=DiagnosedRun(run_id=run.id, rule=anomaly.rule),
    )
    try:
        points.validate(spec)
    except Invalid:
        return None
    return spec


def _read_tests(session: Session, run: Run) -> dict[str, list[FixTest]]:
    """Return the studies that test fixes of the run by rule, newest first."""
    run_id = Study.specification["diagnosis", "run_id"].as_integer()
    tests: dict[str, list[FixTest]] = {}
    for study in session.scalars(select(Study).where(run_id == run.id).order_by(Study.id.desc())):
        verdict = read_verdict(session, study).text if study.state == "finished" else None
        test = FixTest(study_id=study.id, name=study.name, state=study.state, verdict=verdict)
        tests.setdefault(study.specification["diagnosis"]["rule"], []).append(test)
    return tests


router = APIRouter(tags=["runs"])


@router.get("/runs/{run_id}/diagnosis")
def diagnose_run(db: Db, run: PathRun) -> list[Finding]:
    """Return the faults of a run, with their causes, their evidence, and settings that may help.

    To test the suggested settings, send `test` of a finding to POST /studies/preview, then to POST /studies.
    """
    with db.read() as session:
        return read_findings(session, run)
