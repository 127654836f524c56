"""Settings of all tests of the client."""

import runpy
import signal
from pathlib import Path

# Tests see the current client without a `make`.
runpy.run_path(str(Path(__file__).parents[1] / "generate_sync.py"))["generate"]()

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A background job ignores Ctrl-C, and so would the programs that tests interrupt.
    # They do not inherit a handler that does nothing.
    signal.signal(signal.SIGINT, lambda *_: None)
