"""Signing in with the user token."""
