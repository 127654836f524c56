"""`arcadia up`: Redis, the backend and CPU workers on one machine with one command."""
