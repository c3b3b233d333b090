"""What reaches a terminal, and how: control characters shown escaped, tables that fit, lines beside a progress bar."""
