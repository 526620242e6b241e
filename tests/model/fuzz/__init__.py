"""Random operations that sit on the edges, and the comparison with a real `step`."""
