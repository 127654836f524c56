"""Studies of papers are studies: the same shorthands."""

from tests.backend.studies.conftest import keep as keep
from tests.backend.studies.conftest import studies as studies
