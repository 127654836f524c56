"""The `arcadia` command."""
