"""API reference page, made from the OpenAPI document."""
