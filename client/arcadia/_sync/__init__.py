# Generated from arcadia/_async by client/generate_sync.py. Edit that instead.
"""The synchronous client."""
