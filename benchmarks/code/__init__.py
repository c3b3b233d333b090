"""Measurements of the source code and of its converted files."""
