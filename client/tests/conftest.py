"""Settings of all tests of the client."""

import runpy
import signal
from pathlib import Path

CLIENT = Path(__file__).parents[1]
# Tests see the current client without a `make`. Without sources beside them, they test an installed client.
if (CLIENT / "arcadia").is_dir():
    runpy.run_path(str(CLIENT / "generate_sync.py"))["generate"]()

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A background job ignores Ctrl-C, and so would the programs that tests interrupt.
    # They do not inherit a handler that does nothing.
    signal.signal(signal.SIGINT, lambda *_: None)
