"""Alerts: what a person should know, the rules that raise it, and its delivery to other programs."""
