"""Hooks of the site: pages of notebooks without remote scripts, with links that are checked, and with a link to the notebook.

mkdocs-jupyter inserts scripts that load MathJax and Mermaid from other hosts, leaves links to other pages as they are in the notebook, and
gives plots no alternative text.
"""

import json
import logging
import posixpath
import re
from html import escape
from urllib.parse import urlsplit

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

_SCRIPT = re.compile(r"<script\b[^>]*>.*?</script>\s*", re.DOTALL)
_LINK = re.compile(r'(<a\b[^>]*\bhref=")([^"#]+)')
_NO_TEXT = 'alt="No description has been provided for this image"'  # of nbconvert
_KEPT = "clipboard"  # the button that copies a cell

log = logging.getLogger("mkdocs.hooks")


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Remove the scripts of a notebook's page, turn its links to source files into links to pages, and offer the notebook.

    The metadata `alt` of a cell becomes the alternative text of its plot.
    """
    if not page.file.src_uri.endswith(".ipynb"):
        return html

    def link(match: re.Match[str]) -> str:
        if urlsplit(match[2]).scheme:
            return match[0]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page.file.src_uri), match[2]))
        file = files.get_file_from_path(target)
        if file is None:
            log.warning("%s contains a link to %r, but there is no such page", page.file.src_uri, match[2])
            return match[0]
        return match[1] + file.url_relative_to(page.file)

    cells = json.loads(page.file.content_string)["cells"]
    for text in filter(None, (cell["metadata"].get("alt") for cell in cells)):  # of cells with a plot
        html = html.replace(_NO_TEXT, f'alt="{escape(text)}"', 1)
    html = html.replace('class="anchor-link"', 'class="headerlink"')  # as on other pages: the search leaves it out
    html = _SCRIPT.sub(lambda match: match[0] if _KEPT in match[0] else "", html)
    download = f'<p><a href="{posixpath.basename(page.file.src_uri)}" download>Download this notebook</a></p>'
    return _LINK.sub(link, html).replace("</h1>", f"</h1>\n{download}", 1)
