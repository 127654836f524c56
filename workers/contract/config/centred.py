"""The field of the methods whose updates can leave out what all states share."""

from pydantic import Field

from workers.contract.config.ceiling import CeilingFields
from workers.contract.config.fields import OPTIMISATION


class CentredFields(CeilingFields):
    """The field of all methods but Gorila."""

    centred_inputs: bool = Field(
        default=False,
        title="Centred inputs",
        description="Update each layer below the heads as if its inputs had mean 0, so that what all states share "
        "closes no filter for good (LeCun et al. 1998, section 4.3). Below LSTM cells too. The papers do not.",
        json_schema_extra=OPTIMISATION,
    )
