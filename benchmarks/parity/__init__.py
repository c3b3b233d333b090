"""Token ids and answers against other implementations."""
