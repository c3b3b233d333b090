"""Terminal output: escaped control characters, tables that fit, and notes above a progress bar."""
