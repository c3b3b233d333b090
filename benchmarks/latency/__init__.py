"""Latency, throughput, memory and file sizes."""
