"""Calls of the API from the command line, by the standard library alone."""

import json
import os
from collections.abc import Mapping
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from backend.refusals import RefusedError
from workers.contract.secret_files import SecretFileError, read_secret

PATIENCE_SECONDS = 60
LARGEST_ANSWER = 100_000_000


class Client:
    """A backend that runs somewhere."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        if not self.url.startswith(("http://", "https://")):
            raise RefusedError(f"{url} is no address; give one such as http://127.0.0.1:8000")

    def call(self, method: str, path: str, body: object = None) -> Any:
        """The answer to a call, or what is wrong in words."""
        headers = {"Content-Type": "application/json"}
        if token := self._token():
            headers["Authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{self.url}/api/v1{path}", data, headers, method=method)  # noqa: S310 - http alone, see above
        try:
            with urlopen(request, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310
                return json.loads(answer.read(LARGEST_ANSWER))
        except HTTPError as error:
            raise RefusedError(self._told(error)) from None
        except (URLError, OSError) as error:
            reason = getattr(error, "reason", error)
            told = f"no backend answers at {self.url} ({reason}); start one, or name it by --backend-url"
            raise RefusedError(told) from None
        except ValueError:
            raise RefusedError(f"{self.url} answers, but not as Arcadia does") from None

    def _token(self) -> str | None:
        try:
            return read_secret(os.environ, "TOKEN") or os.environ.get("ARCADIA_TOKEN")
        except SecretFileError as error:
            raise RefusedError(str(error)) from None

    def _told(self, error: HTTPError) -> str:
        try:
            problem = json.loads(error.read(LARGEST_ANSWER))
        except ValueError:
            problem = None
        if not isinstance(problem, Mapping) or "detail" not in problem:
            return f"{self.url} answers {error.code}, but not as Arcadia does"
        if wrong := problem.get("errors"):
            return "\n".join(["that is refused", *(f"  {each['field']}: {each['message']}" for each in wrong)])
        return str(problem["detail"])
