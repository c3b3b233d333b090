"""The files of the page, `web_demo` without its tests and its command line, and the types that a server names for them."""

from pathlib import Path

from kerasbert.errors import KerasBertError

ROOT = Path(__file__).resolve().parents[1] / "web_demo"
_DEVELOPMENT = ("node", "node_modules", "package.json", "tests")  # at the top of `web_demo`; no part of a site
_INDEX = "index.html"
CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json; charset=utf-8",
}
OTHER_TYPE = "application/octet-stream"


def page_files(root: Path | None = None) -> dict[str, Path]:
    """Return the files of the page by their path in a site, sorted.

    Files of a kind that a browser does not load, such as an editor's backup, are left out.

    Args:
        root: The folder `web_demo`; the installed one by default.

    Raises:
        KerasBertError: When the page is not there.
    """
    root = root or ROOT
    if not (root / _INDEX).is_file():
        raise KerasBertError(f"expected the page in {root}, received no {_INDEX}; install kerasbert again")
    paths = {path.relative_to(root): path for path in root.rglob("*") if path.is_file()}
    return {path.as_posix(): paths[path] for path in sorted(paths) if _is_served(path)}


def _is_served(path: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.parts)
    return not hidden and path.parts[0] not in _DEVELOPMENT and path.suffix in CONTENT_TYPES
