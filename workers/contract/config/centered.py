"""Configuration field of the methods that can center their inputs."""

from pydantic import Field

from workers.contract.config.ceiling import CeilingFields
from workers.contract.config.fields import OPTIMIZATION


class CenteredFields(CeilingFields):
    """Field of all methods except Gorila."""

    centered_inputs: bool = Field(
        default=False,
        title="Centered inputs",
        description="Update each layer below the heads, including those below LSTM cells, as if its inputs had mean "
        "0. Otherwise the inputs that all states share can switch filters off permanently (LeCun et al. 1998, section "
        "4.3). The papers do not do this.",
        json_schema_extra=OPTIMIZATION,
    )
