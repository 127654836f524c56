"""Errors of commands: a sentence for the user, and an exit status.

RefusedError         78, EX_CONFIG: the user must change something first
└── NotNowError      75, EX_TEMPFAIL: the same command may succeed later
"""

import os


class RefusedError(Exception):
    """The user must change something before the command can run."""

    status = os.EX_CONFIG


class NotNowError(RefusedError):
    """The command may succeed later without a change."""

    status = os.EX_TEMPFAIL
