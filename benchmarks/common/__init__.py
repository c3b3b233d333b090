"""Shared modules: result files, interleaved processes, the command line, test strings and data sets."""
