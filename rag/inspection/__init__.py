"""Can it be trusted? What this machine runs and how the stores are."""
