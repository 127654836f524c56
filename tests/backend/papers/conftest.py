"""Fixtures of the papers tests: those of studies."""

from tests.backend.studies.conftest import schedule as schedule
from tests.backend.studies.conftest import studies as studies
