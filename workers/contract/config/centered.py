"""Configuration field of the methods that can center their inputs."""

from pydantic import Field

from workers.contract.config.ceiling import CeilingFields
from workers.contract.config.fields import OPTIMIZATION


class CenteredFields(CeilingFields):
    """Field of all methods except Gorila."""

    centered_inputs: bool = Field(
        default=False,
        title="Centered inputs",
        description="Update each layer below the heads as if its inputs had mean 0, so that what all states share "
        "closes no filter for good (LeCun et al. 1998, section 4.3). Below LSTM cells too. The papers do not.",
        json_schema_extra=OPTIMIZATION,
    )
