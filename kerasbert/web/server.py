"""Serves a site on this computer only, with the headers that the page is meant to have."""

import email.utils
import os
import sys
import webbrowser
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copyfileobj
from typing import Any
from urllib.parse import unquote, urlsplit

from kerasbert.errors import KerasBertError
from kerasbert.web.page_files import CONTENT_TYPES, OTHER_TYPE

HOST = "127.0.0.1"
# The page itself names the same policies, for hosts that send no headers. `frame-ancestors` counts in a header only.
_SOURCES = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'"
)
# Of the page alone: in its worker LiteRT.js calls `importScripts` with a plain string, and other pages in the folder are the user's.
_TRUSTED_TYPES = "require-trusted-types-for 'script'; trusted-types kerasbert"
PAGE_POLICY = f"{_SOURCES}; {_TRUSTED_TYPES}"
HEADERS = {
    "Content-Security-Policy": f"{_SOURCES}; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}
_HOST_NAMES = (HOST, "localhost")
_INDEX = "index.html"
_IDLE_SECONDS = 60


class SiteServer(ThreadingHTTPServer):
    """A server of one folder. Creating it takes the port; `serve_forever` answers.

    Args:
        folder: The site's folder.
        port: The port; 0 takes any free one.

    Raises:
        KerasBertError: When the port is not free.
    """

    daemon_threads = True

    def __init__(self, folder: Path, port: int = 0) -> None:
        try:
            super().__init__((HOST, port), partial(_Handler, folder.resolve()))
        except OSError as error:
            raise KerasBertError(
                f"expected a free --port on {HOST}, received {port} ({error.strerror}); name another, or leave it out"
            ) from error

    @property
    def address(self) -> str:
        """The site's URL."""
        return f"http://{HOST}:{self.server_port}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a browser that has closed its connection; report every other error."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


def open_browser(address: str, environment: Mapping[str, str]) -> bool:
    """Open an address in the user's browser, and return True if there is one. Without a display none is opened.

    Args:
        address: The URL.
        environment: The environment variables.
    """
    if sys.platform.startswith("linux") and not (environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")):
        return False  # a browser for terminals would take over this one
    try:
        return webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return False


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "kerasbert", ""
    timeout = _IDLE_SECONDS

    def __init__(self, root: Path, *arguments: Any) -> None:
        self._root = root
        super().__init__(*arguments)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Print nothing: stderr is for messages to the user."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._refuse_method
        raise AttributeError(name)

    def _refuse_method(self) -> None:
        self.close_connection = True  # a body may follow, which is not read
        self._answer_text(HTTPStatus.METHOD_NOT_ALLOWED, {"Allow": "GET, HEAD", "Connection": "close"})

    def _answer(self, with_body: bool) -> None:
        if _host_name(self.headers.get("Host", "")) not in _HOST_NAMES:  # another site's name that points here
            self._answer_text(HTTPStatus.FORBIDDEN, with_body=with_body)
            return
        path = _find(self._root, self.path)
        if path is None:
            self._answer_text(HTTPStatus.NOT_FOUND, with_body=with_body)
            return
        self._send_file(path, with_body)

    def _send_file(self, path: Path, with_body: bool) -> None:
        try:
            file = path.open("rb")
        except OSError:  # replaced or protected in the meantime
            self._answer_text(HTTPStatus.NOT_FOUND, with_body=with_body)
            return
        with file:
            status = os.fstat(file.fileno())
            tag = f'"{status.st_mtime_ns:x}-{status.st_size:x}"'
            if self.headers.get("If-None-Match") == tag:
                self._send_headers(HTTPStatus.NOT_MODIFIED, {"ETag": tag})
                return
            facts = {
                "Content-Type": CONTENT_TYPES.get(path.suffix.lower(), OTHER_TYPE),
                "Content-Length": str(status.st_size),
                "Last-Modified": email.utils.formatdate(status.st_mtime, usegmt=True),
                "ETag": tag,
            }
            if path == self._root / _INDEX:
                facts["Content-Security-Policy"] = f"{PAGE_POLICY}; frame-ancestors 'none'"
            self._send_headers(HTTPStatus.OK, facts)
            if with_body:
                copyfileobj(file, self.wfile)

    def _answer_text(
        self, status: HTTPStatus, headers: Mapping[str, str] | None = None, with_body: bool = True
    ) -> None:
        body = f"{status.value} {status.phrase}\n".encode()
        facts = {"Content-Type": CONTENT_TYPES[".txt"], "Content-Length": str(len(body))}
        self._send_headers(status, {**facts, **(headers or {})})
        if with_body:
            self.wfile.write(body)

    def _send_headers(self, status: HTTPStatus, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, **headers}.items():
            self.send_header(name, value)
        self.end_headers()


def _host_name(host: str) -> str | None:
    """Return the name in a request's `Host`, without the port."""
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def _find(root: Path, target: str) -> Path | None:
    """Return the file for the target of a request, or None: for folders, hidden files, and all that is outside of `root`."""
    parts = unquote(target.partition("?")[0].partition("#")[0], errors="replace").split("/")[1:]
    if parts and parts[-1] == "":
        parts[-1] = _INDEX if len(parts) == 1 else ""
    if not parts or any(not part or part.startswith(".") for part in parts):
        return None
    path = root.joinpath(*parts)
    try:
        if not path.is_file() or not path.resolve().is_relative_to(root):
            return None
    except (OSError, ValueError):  # a name that the file system does not have
        return None
    return path
