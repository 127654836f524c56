"""Routes of accounts: people, groups, members of projects, tokens, sessions and the audit log."""
