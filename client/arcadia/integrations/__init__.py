"""Integrations: other libraries whose output becomes a reported run."""
