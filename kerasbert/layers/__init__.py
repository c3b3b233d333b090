"""The bricks that every encoder is built from."""
