"""Accounts: people with passwords, roles, tokens and sessions, and the audit log. Routes are in people/ and web/."""
