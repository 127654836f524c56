"""Display names of runs, environments, configuration fields and values."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from arcadia_backend.database.tables import Run
from arcadia_workers.contract.config import config_adapter
from arcadia_workers.contract.config.problems import title_of
from arcadia_workers.contract.games import env_title

MAX_FIELDS = 3
SHORT_TITLES = {"learning_rate": "lr"}
# These fields come first in a name. The others follow in the order of the launch form.
LEADING_FIELDS = ("seed", "learning_rate")
# Names begin with the method and the environment. The other fields here do not affect what is learned.
OMITTED_FIELDS = (
    "algorithm",
    "env",
    "checkpoint_seconds",
    "checkpoints_kept",
    "replays_megabytes",
    "evaluate_every_steps",
    "calibrate_every_steps",
    "evaluation_protocol",
    "ceiling_seconds",
)


def name_from_fields(config: Mapping[str, Any], fields: Collection[str]) -> str:
    """Return a run's name: its method, its environment and the values of the most important of these fields."""
    named = first_fields([field for field in fields if field in config and field not in OMITTED_FIELDS])
    values = [name_part(field, config[field]) for field in named]
    return " · ".join([title_of(config["algorithm"]), env_title(config["env"]), *values])


def name_for_copy(run: Run, config: Mapping[str, Any]) -> str:
    """Return the name of a copy with another configuration. A name that a user chose is kept."""
    if not has_automatic_name(run):
        return run.name
    parts = run.name.split(" · ")
    named = {
        field for field, value in run.config.items() if {name_part(field, value), _long_part(field, value)} & {*parts}
    }
    changed = {field for field, value in config.items() if run.config.get(field) != value}
    fields = [field for field in config if field in named | changed and field not in OMITTED_FIELDS]
    return name_from_fields(config, fields) if fields else run.name


def has_automatic_name(run: Run) -> bool:
    """Return True if no user chose the run's name."""
    method, env = title_of(run.algorithm), env_title(run.env)
    return run.name in (f"{method} on {env}", f"{method} · {env}") or run.name.startswith(f"{method} · {env} · ")


def first_fields(fields: Sequence[str]) -> list[str]:
    """Return the fields that fit into a name, the leading ones first."""
    order = sorted(fields, key=lambda f: LEADING_FIELDS.index(f) if f in LEADING_FIELDS else len(LEADING_FIELDS))
    return order[:MAX_FIELDS]


def field_values(run: Run, fields: Sequence[str]) -> list[str]:
    """Return each field that the run has, with its value."""
    return [name_part(field, run.config[field]) for field in fields if field in run.config]


def name_part(field: str, value: Any) -> str:
    """Return a field with its value as part of a name, such as "lr 0.001" or "total steps 10 M"."""
    return f"{short_title(field)} {format_field(field, value)}"


def _long_part(field: str, value: Any) -> str:
    """Return the same part with all digits, as in the names of earlier versions."""
    return f"{short_title(field)} {format_value(value)}"


def short_title(field: str) -> str:
    """Return the title of a field as part of a name."""
    return SHORT_TITLES.get(field) or title_in_text(field)


def title_in_text(field: str) -> str:
    """Return the title of a field as part of a sentence."""
    title = field_titles().get(field, field)
    # Keep abbreviations such as RMSProp in upper case.
    return title if title[:2].isupper() else title[:1].lower() + title[1:]


@cache
def field_titles() -> dict[str, str]:
    """Return the title of each configuration field, as the launch form shows it."""
    return {name: str(field.get("title", name)) for name, field in schema_fields()}


def schema_fields() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the JSON schema of each configuration field of each method."""
    schema = config_adapter.json_schema()
    for model in [schema, *schema.get("$defs", {}).values()]:
        yield from model.get("properties", {}).items()


def format_value(value: Any) -> str:
    """Format a configuration value briefly, as the pages do: 1e-5, 0.99, on, 128/64."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return "/".join(map(format_value, value)) or "none"
    if isinstance(value, float) and 0 < abs(value) < 1e-4:
        digits, exponent = f"{value:.4e}".split("e")
        return f"{digits.rstrip('0').rstrip('.')}e{int(exponent)}"
    if isinstance(value, float):
        return f"{value:.6g}"
    return "none" if value is None else str(value)


def format_field(field: str, value: Any) -> str:
    """Format the value of a field. Round counts have units: 10 M, 250 k. A seed is not a count."""
    if isinstance(value, int) and not isinstance(value, bool) and field != "seed":
        for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
            # Other numbers would lose digits, which may be what tells two names apart.
            if abs(value) >= max(size, 10**4) and value * 100 % size == 0:
                return f"{value / size:.10g} {unit}"
    return format_value(value)
