"""Typed views of the server's responses. They make no requests."""
