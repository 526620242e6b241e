"""Pictures of runs and sweeps. Matplotlib is imported when the first one is drawn, not before."""
