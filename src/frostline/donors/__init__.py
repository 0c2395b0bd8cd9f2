"""Donors: recommenders trained on warm interactions, one a file."""
