"""Checkpoints read and written: files, explicit name maps, the hub."""
