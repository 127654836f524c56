"""Studies of papers are studies: the same shorthands."""

from tests.backend.studies.conftest import schedule as schedule
from tests.backend.studies.conftest import studies as studies
