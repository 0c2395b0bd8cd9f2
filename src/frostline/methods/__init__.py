"""Methods: ways to score cold items, one a file."""
