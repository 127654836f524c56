"""Collection of an attempt's provenance: code, packages, host, command and environment variables."""
