"""Locks that threads share, values of a process, and what a fork does to both."""

import os
import pickle
import threading
import time

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.sharing import PerProcess, ThreadLock, keep_in_forks


def _in_fork(check) -> bool:
    """Whether a check returned True in a forked process, within 20 seconds."""
    child = os.fork()
    if child == 0:
        os._exit(0 if check() is True else 1)
    until = time.monotonic() + 20
    while time.monotonic() < until:
        process, status = os.waitpid(child, os.WNOHANG)
        if process:
            return status == 0
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return False


def test_a_lock_lets_one_thread_in_at_a_time():
    lock, seen = ThreadLock("a counter"), []

    def work():
        for _ in range(50):
            with lock.held:
                seen.append("in")
                time.sleep(0)
                seen.append("out")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == ["in", "out"] * 200


def test_a_thread_that_holds_a_lock_gets_an_error_instead_of_a_deadlock():
    lock = ThreadLock("a model")
    with lock.held, pytest.raises(KerasBertError, match="one call of a model at a time"):
        _ = lock.held
    nested = ThreadLock("a model", nested=True)
    with nested.held, nested.held:
        pass
    with pickle.loads(pickle.dumps(nested)).held:
        pass


def test_a_lock_is_free_in_a_fork():
    lock, locked, done = ThreadLock("a model"), threading.Event(), threading.Event()

    def hold():
        with lock.held:
            locked.set()
            done.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    locked.wait(10)
    assert _in_fork(lambda: lock.held.acquire(timeout=5))
    done.set()
    thread.join()


def test_a_value_is_made_once_a_process():
    made = []
    value = PerProcess("a list")

    def get():
        return value.get(lambda: made.append(os.getpid()) or len(made))

    threads = [threading.Thread(target=get) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [os.getpid()] and get() == 1
    assert _in_fork(lambda: get() == 2 and made[1] == os.getpid())


def test_a_resource_is_deleted_in_its_own_process_only():
    class Resource:
        def __init__(self, ended):
            self.ended = ended

        def __del__(self):
            self.ended.append(os.getpid())

    ended = []
    resource = Resource(ended)
    keep_in_forks(resource)

    def delete():
        nonlocal resource
        del resource
        return ended == []

    assert _in_fork(delete)
    del resource
    assert ended == [os.getpid()]
