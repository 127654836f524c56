"""The backend: API, live stream and the only writer of the database."""
