"""The catalog of metrics: it has exactly the metrics that the trainer reports."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import arcadia
import pytest
import torch
from arcadia.reporting.attached import STANDARD_NAMES

from arcadia_backend.metrics.reading import NAME_PATTERN
from arcadia_backend.metrics.service import pack_events
from arcadia_workers.contract.action_names import Discrete
from arcadia_workers.contract.config import A3cConfig, PaacConfig
from arcadia_workers.contract.events import Metrics
from arcadia_workers.contract.metrics import CATALOG, METRICS, named
from arcadia_workers.trainer.methods.gorila.reporter import histogram
from arcadia_workers.trainer.methods.paac.framework import TimeShares
from arcadia_workers.trainer.networks import networks
from arcadia_workers.trainer.networks.networks import measured
from arcadia_workers.trainer.run.run import NullRun
from tests.factories import metrics as metrics_event

SYSTEM_METRICS = Path(arcadia.__file__).parent / "reporting" / "system_metrics.py"
TRAINER = Path(__file__).parents[2] / "workers" / "arcadia_workers" / "trainer"
# In the trainer's source, only names of metrics match this.
NAME = re.compile(r"[a-z0-9]+/[a-z0-9_]+")
MADE = "MADE"  # replaces the values in a formatted string


def texts(tree: ast.AST) -> Iterator[str]:
    """Yield every string in the source. In formatted strings, replace the values with MADE."""
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else MADE for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.value


def written() -> set[str]:
    """Return the names that are complete in the trainer's source."""
    found = {text for path in TRAINER.rglob("*.py") for text in texts(ast.parse(path.read_text()))}
    return {text for text in found if NAME.fullmatch(text)}


def put_together() -> set[str]:
    """Return the names that the trainer builds at run time."""
    shares = TimeShares(iter(range(10)).__next__).report()
    most = [
        PaacConfig(network="nature"),
        A3cConfig(env="CartPole-v1", activation="relu", hidden_layers=8),
    ]
    shapes = [(4, 84, 84), (4,)]
    dead = [
        measured(networks.build(config, shape, Discrete(2)), torch.zeros(2, *shape))
        for config, shape in zip(most, shapes, strict=True)
    ]
    return {*histogram(Counter([0])), *shares, *(name for values in dead for name in values)}


def of_episodes() -> set[str]:
    """Return the names that the backend gives to the metrics of an episode."""
    return set(pack_events([Metrics.model_validate(metrics_event(1, 1, returns=[5.0]))]))


def of_scripts() -> set[str]:
    """Return the names that the client gives to metrics of other libraries and of a script's host."""
    measured = texts(ast.parse(SYSTEM_METRICS.read_text()))
    return {*STANDARD_NAMES.values(), *(text for text in measured if NAME.fullmatch(text))}


def test_every_reported_metric_is_in_the_catalog() -> None:
    assert written() | put_together() | of_scripts() <= METRICS.keys()


def test_scripts_report_the_system_metrics_of_trainers() -> None:
    trained = {name for name in written() if name.startswith("system/")}
    assert {name for name in of_scripts() if name.startswith("system/")} == trained


def test_every_metric_in_the_catalog_is_reported() -> None:
    assert METRICS.keys() <= written() | put_together() | of_episodes() | of_scripts()


def test_no_other_names_are_built_from_parts() -> None:
    formatted = {text for path in TRAINER.rglob("*.py") for text in texts(ast.parse(path.read_text())) if MADE in text}
    sections = "|".join(section.prefix for section in CATALOG)
    assert {text for text in formatted if re.match(rf"({sections})/", text)} == {
        f"time/{MADE}",
        f"gorila/staleness_{MADE}",
        f"gorila/staleness_{MADE}_to_{MADE}",
        f"gorila/staleness_{MADE}_and_more",
        f"network/dead_{MADE}",
    }


def test_a_null_run_rejects_a_misspelled_name() -> None:
    with pytest.raises(ValueError, match="train/entrpoy"):
        NullRun().metrics({"train/entropy": 0.5, "train/entrpoy": 0.5})


def test_every_name_is_unique_and_in_its_section() -> None:
    every = [(section.prefix, metric.name) for section in CATALOG for metric in section.all_metrics]
    assert len(every) == len(METRICS)
    assert [
        name for prefix, name in every if name.split("/")[0] != prefix or not re.fullmatch(NAME_PATTERN, name)
    ] == []


def test_a_group_has_several_metrics() -> None:
    groups = [group for section in CATALOG for group in section.groups]
    assert groups
    assert all(len(group.metrics) > 1 for group in groups)


def test_an_unknown_metric_gets_a_heading_from_its_name() -> None:
    assert named("other/made_up_rate").heading == "Made up rate"
    assert named("ga3c/policy_lag").heading == "Policy lag, updates"
