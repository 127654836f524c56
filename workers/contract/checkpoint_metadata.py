"""Metadata of a checkpoint file."""

from typing import Any

from pydantic import BaseModel, JsonValue

from workers.contract.values import Count

# The key in the file's metadata. safetensors writes several keys in any order, and equal states must make equal files.
METADATA = "arcadia"
# The fact that names the method of an agent that another library trained. Its configuration only describes the network.
TRAINED_BY = "trained_by"
# The fact that a checkpoint has only the weights of its network. A training that continues from it starts its optimizer
# anew.
WEIGHTS_ONLY = "weights_only"


class CheckpointMetadata(BaseModel):
    """Metadata in a checkpoint file. Older files may lack the versions."""

    step: Count
    frames: Count
    facts: dict[str, JsonValue]
    config: dict[str, JsonValue]
    versions: dict[str, str] = {}


def algorithm_of(facts: dict[str, JsonValue], config: dict[str, Any]) -> str:
    """Return the method that trained a checkpoint."""
    return str(facts.get(TRAINED_BY) or config["algorithm"])
