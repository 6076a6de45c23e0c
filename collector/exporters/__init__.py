"""Where telemetry goes out. One module per kind of destination."""
