"""All of Arcadia on one machine by one command: private Redis, backend and a CPU worker."""
