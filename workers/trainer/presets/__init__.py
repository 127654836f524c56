"""Named, complete configurations, each citing where its numbers come from (no torch)."""

from pydantic import JsonValue

from workers.trainer.config.problems import METHODS, FieldProblem, title_of
from workers.trainer.presets import gorila, papers, poles, pong
from workers.trainer.presets.preset import Preset as Preset

PRESETS: dict[str, Preset] = {
    preset.name: preset for preset in (*poles.PRESETS, *pong.PRESETS, *papers.PRESETS, *gorila.PRESETS)
}


def refusal_of_other_method(algorithm: str, wanted: JsonValue) -> FieldProblem | None:
    """Why a configuration of one method cannot be turned into another's by naming it, and what to do instead."""
    if wanted in (None, algorithm) or wanted not in [*METHODS]:  # no method at all is refused by validation
        return None
    names = [preset.name for preset in PRESETS.values() if preset.config.algorithm == wanted]
    instead = f"start from {' or '.join(names)}" if names else "write a whole configuration"
    sentence = f"{title_of(algorithm)} has other fields than {title_of(str(wanted))}, for which you {instead}"
    return FieldProblem("algorithm", sentence)
