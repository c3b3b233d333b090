"""Outputs of one model on several targets and backends."""
