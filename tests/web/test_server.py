"""The server of a site: files of one folder, for this computer only."""

import http.client
import os
import re
import socket
import threading

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.web import server
from kerasbert.web.page_files import ROOT
from kerasbert.web.server import HEADERS, PAGE_POLICY, SiteServer, open_browser


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "site"
    for path, content in {
        "index.html": "<!doctype html>", "own.html": "<!doctype html>", "app.js": "export {};", "litert/a.wasm": "wasm",
        "models/a b.tflite": "model",
        "manifest.webmanifest": "{}", ".hidden": "secret", ".git/HEAD": "secret",
    }.items():  # fmt: skip
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "folder").symlink_to(tmp_path / "outside")
    (folder / "inside.js").symlink_to("app.js")
    return folder


@pytest.fixture
def ask(site):
    """Send one request, and return status, headers and body."""
    with SiteServer(site) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()

        def send(path, method="GET", **headers):
            connection = http.client.HTTPConnection("127.0.0.1", running.server_port, timeout=10)
            connection.putrequest(method, path, skip_host="Host" in headers)
            for name, value in headers.items():
                connection.putheader(name.replace("_", "-"), value)
            connection.endheaders()
            answer = connection.getresponse()
            found = answer.status, dict(answer.getheaders()), answer.read()
            connection.close()
            return found

        yield send
        running.shutdown()
        thread.join()


@pytest.mark.parametrize(
    "path, kind",
    [
        ("/", "text/html; charset=utf-8"),
        ("/index.html?text=a#b", "text/html; charset=utf-8"),
        ("/own.html", "text/html; charset=utf-8"),
        ("/app.js", "text/javascript; charset=utf-8"),
        ("/inside.js", "text/javascript; charset=utf-8"),
        ("/litert/a.wasm", "application/wasm"),
        ("/models/a%20b.tflite", "application/octet-stream"),
        ("/manifest.webmanifest", "application/manifest+json; charset=utf-8"),
    ],
)
def test_files_have_their_type_and_the_headers_of_a_safe_page(ask, path, kind):
    status, headers, body = ask(path)
    assert (status, headers["Content-Type"], headers["Content-Length"]) == (200, kind, str(len(body))) and body
    policy = "Content-Security-Policy"
    assert headers.items() >= {name: value for name, value in HEADERS.items() if name != policy}.items()
    assert headers[policy].startswith("default-src 'none'; ") and headers[policy].endswith("; frame-ancestors 'none'")
    assert ("trusted-types" in headers[policy]) == (path in ("/", "/index.html?text=a#b"))
    assert "Python" not in headers["Server"]


def test_the_page_is_isolated_and_loads_nothing_from_other_hosts():
    assert HEADERS["Cross-Origin-Opener-Policy"] == "same-origin"
    assert HEADERS["Cross-Origin-Embedder-Policy"] == "require-corp"
    policy = dict(part.strip().split(" ", 1) for part in HEADERS["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'" and policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == "'self' 'wasm-unsafe-eval'"
    assert {source for value in policy.values() for source in value.split()} == {
        "'self'",
        "'none'",
        "'wasm-unsafe-eval'",
    }


def test_the_page_names_the_policy_of_the_server():
    named = re.search(
        r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', (ROOT / "index.html").read_text("utf-8")
    )
    assert named and named[1] == PAGE_POLICY


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/..%5csecret.txt", "/models/../../secret.txt", "//etc/passwd",
        "/%2fetc%2fpasswd", "/link.txt", "/folder/secret.txt", "/.hidden", "/.git/HEAD", "/app.js/", "/app.js%00.html", "/none",
        "/%ff%fe", "/" + "a" * 5000,
    ],
)  # fmt: skip
def test_nothing_outside_of_the_folder_is_found(ask, path):
    status, headers, body = ask(path)
    assert status == 404 and b"secret" not in body and headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("path", ["/models", "/models/", "/litert", "/folder", "/folder/"])
def test_folders_are_not_listed(ask, path):
    status, _, body = ask(path)
    assert status == 404 and b"tflite" not in body and b"wasm" not in body


def test_a_target_without_a_path_is_not_found(ask):
    assert ask("app.js")[0] == ask("*")[0] == 404


def test_head_has_the_headers_alone(ask):
    status, headers, body = ask("/app.js", "HEAD")
    assert (status, headers["Content-Length"], body) == (200, "10", b"")
    assert ask("/none", "HEAD")[::2] == (404, b"")


@pytest.mark.parametrize("path", ["/app.js", "/none"])
def test_head_sends_no_body(site, path):
    """As bytes: an HTTP client does not read one."""
    with SiteServer(site) as running, socket.create_connection(running.server_address) as client:
        client.sendall(f"HEAD {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        running.handle_request()
        assert client.makefile("rb").read().endswith(b"\r\n\r\n")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_other_methods_are_refused(ask, method):
    status, headers, _ = ask("/app.js", method)
    assert (status, headers["Allow"], headers["Connection"]) == (405, "GET, HEAD", "close")


def test_a_file_that_has_not_changed_is_not_sent_again(ask, site):
    _, headers, _ = ask("/app.js")
    assert headers["Cache-Control"] == "no-cache"
    status, again, body = ask("/app.js", If_None_Match=headers["ETag"])
    assert (status, again["ETag"], body) == (304, headers["ETag"], b"")
    os.utime(site / "app.js", ns=(1, 1))
    assert ask("/app.js", If_None_Match=headers["ETag"])[::2] == (200, b"export {};")


@pytest.mark.parametrize(
    "host, status", [("127.0.0.1:1", 200), ("LOCALHOST", 200), ("evil.example", 403), ("[", 403), ("", 403)]
)
def test_another_sites_name_is_refused(ask, host, status):
    assert ask("/app.js", Host=host)[0] == status


def test_a_folder_that_is_written_again_is_served_anew(ask, site):
    site.rename(site.with_name("old"))
    site.mkdir()
    (site / "app.js").write_text("new")
    assert ask("/app.js")[2] == b"new"


def test_only_this_computer_can_connect(site):
    with SiteServer(site) as running:
        assert (
            running.server_address[0] == "127.0.0.1" and running.address == f"http://127.0.0.1:{running.server_port}/"
        )


def test_a_port_in_use_is_refused(site):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(KerasBertError, match=f"expected a free --port .*, received {port} .*; name another"):
            SiteServer(site, port)


def test_a_browser_that_hangs_up_is_no_error(site, capsys):
    with SiteServer(site) as running:
        for error in (ConnectionResetError(), TimeoutError(), ZeroDivisionError()):
            try:
                raise error
            except Exception:
                running.handle_error(None, ("127.0.0.1", 1))
    assert capsys.readouterr().err.count("Traceback") == 1


def test_a_browser_is_opened_where_there_is_a_display(monkeypatch):
    opened = []
    monkeypatch.setattr(server.webbrowser, "open", lambda address: opened.append(address) or True)
    monkeypatch.setattr(server.sys, "platform", "linux")
    assert not open_browser("http://a/", {}) and opened == []
    assert open_browser("http://a/", {"DISPLAY": ":0"}) and open_browser("http://b/", {"WAYLAND_DISPLAY": "wayland-0"})
    assert opened == ["http://a/", "http://b/"]

    def fail(address):
        raise server.webbrowser.Error("no browser")

    monkeypatch.setattr(server.webbrowser, "open", fail)
    assert not open_browser("http://a/", {"DISPLAY": ":0"})
