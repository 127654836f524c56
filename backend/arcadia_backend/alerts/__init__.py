"""Alerts: things that a person should know, the rules that raise them, and their delivery to other programs."""
