"""The pictures of docs/images: `make pictures`."""
