"""Names of runs beside one another: what they differ in, and their numbers."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from backend.database.tables import Run
from backend.runs.differences import differences, field_titles
from workers.contract.config.problems import title_of
from workers.contract.games import ENVIRONMENTS

MOST_FIELDS = 3
SHORT = {"learning_rate": "lr"}
# What a reader asks for first; then the others in the order of the launch form.
FIRST = ("seed", "learning_rate")
# What a name leaves out: the method and the game begin it, and the others change nothing that is learnt.
LEFT_OUT = (
    "algorithm",
    "env",
    "checkpoint_seconds",
    "checkpoints_kept",
    "replays_megabytes",
    "evaluate_every_steps",
    "evaluation_protocol",
    "ceiling_seconds",
)


def labels(runs: Sequence[Run]) -> dict[int, str]:
    """By run, a name that no other run here has; a run alone keeps its own."""
    if len(runs) == 1:
        return {runs[0].id: runs[0].name}
    described = _described({run.id: run.config for run in runs}, runs)
    return {run.id: f"{words} #{run.id}" for run, words in zip(runs, described, strict=True)}


def name_by(config: Mapping[str, Any], fields: Collection[str]) -> str:
    """Name a run by its method, its game and the fields in which it differs from others of its kind."""
    told = _first_fields([field for field in fields if field in config and field not in LEFT_OUT])
    values = [f"{_name(field)} {written(config[field])}" for field in told]
    return " · ".join([title_of(config["algorithm"]), env_title(config["env"]), *values])


def name_of_copy(run: Run, config: Mapping[str, Any]) -> str:
    """Return the name of a run with another configuration: the same, unless nobody has chosen it."""
    if not _is_automatic(run):
        return run.name
    parts = run.name.split(" · ")
    told = {field for field in run.config if {*_fields(run, [field])} & {*parts}}
    changed = {field for field, value in config.items() if run.config.get(field) != value}
    fields = [field for field in config if field in told | changed and field not in LEFT_OUT]
    return name_by(config, fields) if fields else run.name


def _is_automatic(run: Run) -> bool:
    """Return True if the run has the name that it got without a user's choice."""
    method, env = title_of(run.algorithm), env_title(run.env)
    return run.name in (f"{method} on {env}", f"{method} · {env}") or run.name.startswith(f"{method} · {env} · ")


def _first_fields(fields: Sequence[str]) -> list[str]:
    return sorted(fields, key=lambda field: FIRST.index(field) if field in FIRST else len(FIRST))[:MOST_FIELDS]


def group_labels(groups: Sequence[Sequence[Run]], by: Sequence[str] = ()) -> list[str]:
    """A name for each group of runs, and its n."""
    return [f"{name} (n = {len(runs)})" for name, runs in zip(group_names(groups, by), groups, strict=True)]


def group_names(groups: Sequence[Sequence[Run]], by: Sequence[str] = ()) -> list[str]:
    """What tells each group of runs from the others, which agree in the fields `by` or else in all but the seed."""
    described = [_shared(runs, by) for runs in groups] if by else _seeds_described(groups)
    number = Counter(described)
    return [
        words if number[words] == 1 else f"{words} from #{runs[0].id}"
        for words, runs in zip(described, groups, strict=True)
    ]


def names_over_games(groups: Sequence[Sequence[Run]]) -> list[str]:
    """What tells groups from one another whose runs differ in seed and game alone."""
    configs = {runs[0].id: runs[0].config for runs in groups}
    rows = [row.field for row in differences(configs, field_titles()) if not row.same]
    told = [field for field in rows if field not in (*LEFT_OUT, "seed")][:MOST_FIELDS]
    return group_names(groups, told or ["algorithm"])


def _shared(runs: Sequence[Run], by: Sequence[str]) -> str:
    """The method and the game where all of these runs have the same, and the fields that they are grouped by."""
    methods, games = {title_of(run.algorithm) for run in runs}, {env_title(run.env) for run in runs}
    began = [name for names in (methods, games) if len(names) == 1 for name in names]
    fields = [name for name in by if name not in ("algorithm", "env")]
    lacking = [f"no {_name(name)}" for name in fields if name not in runs[0].config]
    return " · ".join([*began, *_fields(runs[0], fields), *lacking]) or "All runs"


def _seeds_described(groups: Sequence[Sequence[Run]]) -> list[str]:
    firsts = [runs[0] for runs in groups]
    configs = {run.id: {name: value for name, value in run.config.items() if name != "seed"} for run in firsts}
    shared = [len({run.name for run in runs}) == 1 for runs in groups]
    return _described(configs, firsts, shared)


def _described(
    configs: Mapping[int, Mapping[str, Any]], runs: Sequence[Run], named: Sequence[bool] | None = None
) -> list[str]:
    """By run, what it is called and what its configuration differs in; one not `named` goes by method and game."""
    rows = [row for row in differences(configs, field_titles()) if not row.same]
    differing = [row.field for row in rows if row.field not in LEFT_OUT]
    told = _first_fields(differing)
    differing_at_all = {row.field for row in rows}
    return [
        " · ".join([*_began(run, differing_at_all, by_name), *_fields(run, told)])
        for run, by_name in zip(runs, named or [True] * len(runs), strict=True)
    ]


def _began(run: Run, differing: set[str], by_name: bool) -> list[str]:
    method, env = title_of(run.algorithm), env_title(run.env)
    if not by_name or _is_automatic(run):
        return [method, env]
    named = [run.name]
    if "algorithm" in differing:
        named.append(method)
    if "env" in differing:
        named.append(env)
    return named


def env_title(env: str) -> str:
    """A game's name as people write it; an unknown one stays as it is."""
    known = ENVIRONMENTS.get(env)
    return known.title if known else env


def _fields(run: Run, fields: Sequence[str]) -> list[str]:
    return [f"{_name(field)} {written(run.config[field])}" for field in fields if field in run.config]


def _name(field: str) -> str:
    title = SHORT.get(field) or field_titles().get(field, field)
    # RMSProp stays as it is written.
    return title if title[:2].isupper() else title[:1].lower() + title[1:]


def written(value: Any) -> str:
    """A value of a configuration in few letters, as the pages write it: 1e-5, 0.99, on, 128/64."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return "/".join(map(written, value)) or "none"
    if isinstance(value, float) and 0 < abs(value) < 1e-4:
        digits, exponent = f"{value:.4e}".split("e")
        return f"{digits.rstrip('0').rstrip('.')}e{int(exponent)}"
    if isinstance(value, float):
        return f"{value:.6g}"
    return "none" if value is None else str(value)
