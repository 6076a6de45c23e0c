"""Where telemetry comes in. One module per protocol."""
