"""The frame of a page: markup and style, without fonts or links. Pages of reports have no scripts either."""

from pathlib import Path

STYLE_FILE = Path(__file__).with_name("style.css")  # also the style of the site that `kerasbert web` writes

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="kerasbert report">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>

{style}
</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""
