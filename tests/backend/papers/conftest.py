"""Fixtures of studies, shared with the tests of studies."""

from tests.backend.studies.conftest import schedule as schedule
from tests.backend.studies.conftest import studies as studies
