"""Why a command does not do what it was asked: one sentence for the user, and an exit status for what started it.

RefusedError         78, EX_CONFIG: something has to be changed first
└── NotNowError      75, EX_TEMPFAIL: the same command may succeed later
"""

import os


class RefusedError(Exception):
    """Something has to be changed before the command can do its work."""

    status = os.EX_CONFIG


class NotNowError(RefusedError):
    """Something is in the way that may be gone later."""

    status = os.EX_TEMPFAIL
