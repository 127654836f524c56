"""Check of plug-ins by the trainer."""
