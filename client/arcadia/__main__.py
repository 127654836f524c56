"""The `arcadia` command as `python -m arcadia`."""

import sys

from arcadia.cli.main import main

sys.exit(main())
