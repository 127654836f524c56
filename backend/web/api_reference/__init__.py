"""The page of the API for readers, made from the API's description of itself."""
