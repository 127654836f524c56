"""Settings of all tests of the client."""

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A background job ignores Ctrl-C, and so would the programs that tests interrupt.
    # They do not inherit a handler that does nothing.
    signal.signal(signal.SIGINT, lambda *_: None)
