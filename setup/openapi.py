"""Writes the API's OpenAPI document, from which the frontend's types are generated, to the file named."""

import json
import sys
from pathlib import Path

from backend.app import create_app
from backend.config import Settings


def main() -> None:
    """Describe the application as it is built by default."""
    document = create_app(Settings()).openapi()
    Path(sys.argv[1]).write_text(json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
