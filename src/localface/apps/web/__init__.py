"""The service and the page: recourse over HTTP, on this machine, and the same view in a notebook."""
