"""Members of Arcadia's zip files: archives and agent files."""

from typing import Annotated

from pydantic import BaseModel, StringConstraints

from workers.contract.events import Sha256
from workers.contract.values import Count


class Member(BaseModel):
    """A member of a zip file with its hash and size, as the file's manifest lists it."""

    path: Annotated[str, StringConstraints(max_length=200)]
    sha256: Sha256
    bytes: Count
