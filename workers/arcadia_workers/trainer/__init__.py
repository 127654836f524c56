"""The trainer: a plain program that trains runs. It uses no database, web server or queue."""
