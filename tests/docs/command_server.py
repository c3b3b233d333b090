"""Runs many `kerasbert` commands and scripts in forks of one process that has imported TensorFlow, which takes seconds each time.

    python tests/docs/command_server.py FOLDER

`FOLDER/kerasbert` is then a program that is used like `kerasbert`. With `--script FILE ARGUMENTS...` it runs a Python script. A line on
stdout follows when it is ready. The server ends with its standard input.
"""

import contextlib
import json
import os
import runpy
import signal
import socket
import sys
import threading
import traceback
from pathlib import Path

SOCKET = "socket"
# The program that passes its command line, environment and open files to the server. It imports next to nothing.
CLIENT = """#!{python} -IS
import json, os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({path!r})
asked = json.dumps([os.getcwd(), dict(os.environ), sys.argv[1:]]).encode()
socket.send_fds(server, [len(asked).to_bytes(8, "little")], [0, 1, 2])
server.sendall(asked)
code = server.recv(4)
os._exit(int.from_bytes(code, "little") if code else 1)
"""


def main() -> None:
    """Serve until stdin closes."""
    folder = Path(sys.argv[1])
    _import_libraries()
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(folder / SOCKET))
    server.listen()
    client = folder / "kerasbert"
    client.write_text(CLIENT.format(python=sys.executable, path=str(folder / SOCKET)), "utf-8")
    client.chmod(0o755)
    print("ready", flush=True)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
    _serve(server)


def _import_libraries() -> None:
    """Import what commands import. No code of TensorFlow runs here: threads that it starts do not exist in forks."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    import ai_edge_litert.interpreter
    import tensorflow_model_optimization
    import tf_keras

    import kerasbert as kb
    from kerasbert.cli import app

    # Named, so that their modules are loaded.
    _ = ai_edge_litert.interpreter, tensorflow_model_optimization, tf_keras, app
    _ = kb.TextClassifier, kb.load_task, kb.compression.quantize, kb.export.convert, kb.export.validate
    if len(os.listdir("/proc/self/task")) > 1:
        raise SystemExit("expected imports that start no threads, received threads; forks would lack them")


def _serve(server: socket.socket) -> None:
    import select

    while True:
        ready, _, _ = select.select([server, sys.stdin], [], [])
        if sys.stdin in ready and not os.read(sys.stdin.fileno(), 1):
            return
        if server in ready:
            connection, _ = server.accept()
            if not os.fork():
                server.close()
                _answer(connection)
            connection.close()


def _answer(connection: socket.socket) -> None:
    """Run one command in this process, send its exit code, and end."""
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        head, descriptors, _, _ = socket.recv_fds(connection, 8, 3)
        asked = b""
        while len(asked) < int.from_bytes(head, "little"):
            asked += connection.recv(1 << 16)
        folder, environment, arguments = json.loads(asked)
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
        code = _run(arguments)
    except BaseException:
        traceback.print_exc()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    with contextlib.suppress(OSError):
        connection.sendall(code.to_bytes(4, "little"))
    os._exit(code)


def _end_with(connection: socket.socket) -> None:
    """End this process as Ctrl-C does when the program that asked has ended."""
    with contextlib.suppress(OSError):
        if not connection.recv(1):
            os.kill(os.getpid(), signal.SIGINT)


def _run(arguments: list[str]) -> int:
    try:
        if arguments[:1] == ["--script"]:
            sys.argv = arguments[1:]
            sys.path.insert(0, str(Path(arguments[1]).parent))
            runpy.run_path(arguments[1], run_name="__main__")
            return 0
        from kerasbert.cli.app import main as run_command

        sys.argv = ["kerasbert", *arguments]
        return run_command()
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)


if __name__ == "__main__":
    main()
