"""Options of sbatch that a site or a run may set."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from arcadia_workers.contract.values import STORABLE

# Arcadia sets these to submit a job and to find it again.
_OWN = frozenset(
    "array chdir clusters comment error export export-file gid help input job-name no-requeue nodes ntasks open-mode "
    "output parsable quiet requeue test-only uid usage verbose version wait wrap".split()
)
# The settings have fields for these.
_FIELDS = {
    "account": "field Account",
    "cpus-per-task": "field Cores",
    "gres": "fields GPUs and Kind of GPU",
    "mem": "field Memory",
    "partition": "field Partition",
    "time": "field Time limit",
}
# Options that a run may set: when and on which resources it trains. Others name files, programs or people.
RUN_OPTIONS = frozenset(
    "account begin constraint cpus-per-gpu cpus-per-task deadline exclude exclusive gpus gpus-per-node gpus-per-task "
    "gres hint licenses mem mem-per-cpu mem-per-gpu nodelist partition prefer qos reservation "
    "switches threads-per-core time time-min tmp tres-per-task".split()
)
_OPTION = re.compile(r"--([a-z][a-z0-9-]*)(=\S.*)?")
_HOW = "Write one long option on each line, such as --qos=long"
MAX_LENGTH = 500


def read_options(text: str) -> list[str]:
    """Return the options in a text with one on each line."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def check_options(text: str) -> str:
    """Return the options of a site. Raise ValueError if Arcadia sets one of them, or one is not an option."""
    for option in read_options(text):
        name = _name_of(option)
        # sbatch accepts the start of a name too.
        if own := sorted(each for each in _OWN if each.startswith(name)):
            raise ValueError(f"Arcadia sets --{own[0]} itself. Remove {option}")
        if name in _FIELDS:
            raise ValueError(f"Use the {_FIELDS[name]} instead of {option}")
    return text


def _check_run_option(option: str) -> str:
    """Return an option of a run. Raise ValueError if a run may not set it, or if it is not an option."""
    if _name_of(option) not in RUN_OPTIONS:
        allowed = ", ".join(f"--{name}" for name in sorted(RUN_OPTIONS))
        raise ValueError(f"A run may not set {option}. It may set {allowed}")
    return option


def _name_of(option: str) -> str:
    found = _OPTION.fullmatch(option)
    if found is None or len(option) > MAX_LENGTH:
        raise ValueError(f"{_HOW}, instead of {option[:MAX_LENGTH]}")
    return found[1]


JobOptions = Annotated[
    list[Annotated[str, STORABLE, AfterValidator(_check_run_option)]],
    Field(
        max_length=20,
        description="Options of sbatch for its job, such as --qos=long. They replace those of the settings of Slurm.",
    ),
]
