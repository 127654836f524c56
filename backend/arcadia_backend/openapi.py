"""Prints the OpenAPI document, from which the TypeScript types are generated: `python -m arcadia_backend.openapi`."""

import json
import sys

from arcadia_backend.app import create_app, describe_api
from arcadia_backend.config import Settings


def main() -> None:
    """Print the document with sorted keys, so that the output is stable."""
    document = describe_api(create_app(Settings(host="127.0.0.1")))
    json.dump(document, sys.stdout, indent=2, ensure_ascii=False, sort_keys=True)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
