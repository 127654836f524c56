"""What the configurations of some runs differ in."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel, Field

from workers.contract.config import config_adapter


class Difference(BaseModel):
    """A field of the configuration and its value in each run that has it."""

    field: str
    title: str
    values: dict[int, Any]
    same: bool = Field(description="Whether all runs that have the field agree; a method without it does not differ.")
    marked: list[int] = Field(description="The runs that are not as most are; empty where all agree.")


def differences(configs: Mapping[int, Mapping[str, Any]], titles: Mapping[str, str]) -> list[Difference]:
    """Every field that any run has, in the order of the titles."""
    present = dict.fromkeys(field for config in configs.values() for field in config)
    fields = dict.fromkeys([*(field for field in titles if field in present), *present])
    return [
        _difference(field, titles.get(field, field), {i: c[field] for i, c in configs.items() if field in c})
        for field in fields
    ]


def alike(configs: Mapping[int, Mapping[str, Any]], but: Collection[str] = ("seed",)) -> list[list[int]]:
    """The runs in groups of the same configuration, in the order of their first ones; some fields do not count."""
    groups: dict[tuple[tuple[str, Any], ...], list[int]] = {}
    for run_id, config in configs.items():
        key = tuple(sorted((field, key_of(value)) for field, value in config.items() if field not in but))
        groups.setdefault(key, []).append(run_id)
    return list(groups.values())


def _difference(field: str, title: str, values: dict[int, Any]) -> Difference:
    usual, _number = Counter(map(key_of, values.values())).most_common(1)[0]
    marked = [run_id for run_id, value in values.items() if key_of(value) != usual]
    return Difference(field=field, title=title, values=values, same=not marked, marked=marked)


def key_of(value: Any) -> Any:
    """What is equal for equal values; Python takes 1 and True for equal, a reader of a configuration does not."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(map(key_of, value))
    return repr(value) if value is None or isinstance(value, bool | str) else f"{value!r}".removesuffix(".0")


@cache
def field_titles() -> dict[str, str]:
    """Titles of the configuration's fields, as the launch form shows them."""
    schema = config_adapter.json_schema()
    models_of = [schema, *schema.get("$defs", {}).values()]
    return {
        name: str(field.get("title", name))
        for model in models_of
        for name, field in model.get("properties", {}).items()
    }
