"""Frostline: leak-proof evaluation of recommenders on what nobody has touched yet."""

__version__ = "0.1.0"
