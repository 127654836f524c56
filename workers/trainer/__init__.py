"""The trainer: a plain program that learns, and knows no database, web or queue."""
