"""One reader per dialect of GenAI telemetry. All attribute names of the field live here and nowhere else."""
