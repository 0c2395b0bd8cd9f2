"""What makes LightGBM give the same trees from the same data on every machine."""

from __future__ import annotations

REPEATABLE = {"deterministic": True, "force_row_wise": True, "num_threads": 1, "verbosity": -1}
"""Parameters of training. With more threads, sums of floats depend on how the rows are divided among them."""
