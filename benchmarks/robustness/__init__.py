"""Damaged inputs and processes that are killed."""
