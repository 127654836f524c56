"""Numbers in a path that name a row; larger ones than the databases count to are refused at the door."""

from typing import Annotated

from fastapi import Path

RunId = Annotated[int, Path(ge=1, le=2**53)]
FileId = Annotated[int, Path(ge=1, le=2**53)]
