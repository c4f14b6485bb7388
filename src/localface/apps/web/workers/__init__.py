"""Where requests are searched: dispatch, workers, handlers that run many in lock-step."""
