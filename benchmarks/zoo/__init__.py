"""Measurements of the zoo's models; their numbers go to `zoo/results.csv`."""
