"""Values of scripts as the database can store them: JSON with plain numbers and texts, configurations and tags."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from backend.database.tables import Run, RunTag
from backend.reported.events import MAX_TAG, MAX_TAGS
from backend.reported.problems import Omissions
from backend.web.json_numbers import spelled
from workers.contract.values import storable

MAX_CONFIG_FIELDS = 1_000
MAX_CONFIG_BYTES = 256_000
# Deeper values become text.
MAX_DEPTH = 10
MAX_FIELD_NAME = 200
SHOWN_CHARACTERS = 60
# Length of a method or an environment.
MAX_CHOICE = 100
# How scripts name their environment and their method, such as those of CleanRL, RL Zoo and Stable-Baselines3.
ENV_FIELDS = ("env_id", "env_name", "gym_id", "env", "environment")
METHOD_FIELDS = ("algorithm", "algo", "method", "exp_name")


def quote(text: object) -> str:
    """Return a value in quotes, cut for a message."""
    shown = str(text)
    return repr(shown if len(shown) <= SHOWN_CHARACTERS else f"{shown[:SHOWN_CHARACTERS]}…")


def to_storable(value: Any, depth: int = 0) -> Any:
    """Return a JSON value that both databases store: NaN and infinities become text."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else spelled(value)
    if isinstance(value, dict | list) and depth >= MAX_DEPTH:
        return storable(json.dumps(value)[:1_000])
    if isinstance(value, dict):
        return {str(storable(name)): to_storable(each, depth + 1) for name, each in value.items()}
    if isinstance(value, list):
        return [to_storable(each, depth + 1) for each in value]
    return value


def merge_config(run: Run, values: dict[str, Any], omissions: Omissions) -> None:
    """Add fields to a run's configuration, or replace them. Leave out what would make it too large."""
    merged = dict(run.config)
    for name, value in values.items():
        field = str(storable(name))[:MAX_FIELD_NAME]
        if field not in merged and len(merged) >= MAX_CONFIG_FIELDS:
            omissions.add("config fields", f"Left out configuration fields beyond {MAX_CONFIG_FIELDS:,}.")
            break
        merged[field] = to_storable(value)
    if len(json.dumps(merged)) > MAX_CONFIG_BYTES:
        omissions.add("config size", f"Left out configuration fields beyond {MAX_CONFIG_BYTES:,} bytes.")
        return
    run.config = merged
    run.env = run.env or described_env(merged)
    run.algorithm = run.algorithm or described_method(merged)


def described_env(config: Mapping[str, Any]) -> str:
    """Return the environment that a configuration names, or an empty text."""
    return _first_text(config, ENV_FIELDS)


def described_method(config: Mapping[str, Any]) -> str:
    """Return the method that a configuration names, or an empty text."""
    return _first_text(config, METHOD_FIELDS)


def _first_text(config: Mapping[str, Any], fields: Iterable[str]) -> str:
    texts = (str(storable(value)).strip()[:MAX_CHOICE] for name in fields if isinstance(value := config.get(name), str))
    return next(filter(None, texts), "")


def change_tags(run: Run, add: list[str], remove: list[str], omissions: Omissions) -> None:
    """Add tags to a run, and remove others. Leave out empty ones, long ones and those beyond the limit."""
    kept = {tag.tag: tag for tag in run.tags if tag.tag not in remove}
    for tag in (tag.strip() for tag in add):
        if tag in kept or not tag:
            continue
        if len(tag) > MAX_TAG or len(kept) >= MAX_TAGS:
            omissions.add(
                "tags", f"Left out the tag {quote(tag)}: a run has at most {MAX_TAGS} of {MAX_TAG} characters."
            )
            continue
        kept[tag] = RunTag(tag=tag)
    run.tags = list(kept.values())
