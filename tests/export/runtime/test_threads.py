"""An open model answers threads and forked processes as it answers one thread."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.data import assistant
from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.messages import Channel

pytestmark = pytest.mark.one_layer

THREADS = 8
TEXTS = assistant.load("train").texts[:24:2]


def wrong_answers(call, inputs, wanted, rounds: int = 3) -> list[int]:
    """Return the numbers of the inputs that a pool of threads gets other answers for."""

    def is_wrong(number: int) -> bool:
        return not np.array_equal(call(inputs[number]), wanted[number])

    numbers = list(range(len(inputs))) * rounds
    with ThreadPoolExecutor(THREADS) as pool:
        return [number for number, wrong in zip(numbers, pool.map(is_wrong, numbers), strict=True) if wrong]


@pytest.mark.long_cases("intents")
@pytest.mark.parametrize("isolated", [False, True], ids=["plain", "isolated"])
@pytest.mark.parametrize("name", ["intents", "search"])
def test_threads_get_the_answers_of_one_thread(name, isolated):
    wanted = [kb.open(name)(text) for text in TEXTS]
    model = kb.open(name, isolated=isolated)  # opened at its lengths by the threads
    assert wrong_answers(model, TEXTS, wanted) == []


@pytest.mark.parametrize("isolated", [False, True], ids=["plain", "isolated"])
@pytest.mark.long_cases
def test_threads_search_among_texts(isolated):
    notes, queries = TEXTS[:3], TEXTS[3:15]

    def search(model, query):
        return [found["index"] for found in model.search(query, notes)]

    reference, model = kb.open("search"), kb.open("search", isolated=isolated)
    wanted = [search(reference, query) for query in queries]
    assert wrong_answers(lambda query: search(model, query), queries, wanted, rounds=1) == []


def test_threads_share_a_file_without_texts(helpers, float_file):
    model = kb.export.open_model(float_file)
    rows = [
        {name: values[i : i + 1] for name, values in packed.items()}
        for packed in [helpers.packed_rows(20)]
        for i in range(20)
    ]
    wanted = [model.run(row)["probabilities"] for row in rows]
    assert wrong_answers(lambda row: model.run(row)["probabilities"], rows, wanted, rounds=20) == []


@pytest.mark.long
def test_threads_share_a_task(tiny):
    """Also while its graphs are traced: Keras deletes an attribute before it replaces it."""
    texts, task = tiny.rows(8)[0], tiny.narrow()
    wanted = [[each["probabilities"][label] for label in tiny.labels] for each in tiny.narrow().predictions(texts)]

    def call(number):
        assert task.predictions([texts[number]])[0]["label"] in tiny.labels
        return np.allclose(task.predict([texts[number]])[0], wanted[number], atol=1e-4)

    assert wrong_answers(call, range(8), [True] * 8, rounds=1) == []


FORK = """
import os, sys
import kerasbert as kb
from kerasbert.errors import KerasBertError

name, isolated = sys.argv[1], sys.argv[2] == "isolated"
model = kb.open(name, threads=8, isolated=isolated)
wanted = model("wake me at six")
lower = kb.export.open_model(model.name)
rows = {key: __import__("numpy").ones(port.shape, port.dtype) for key, port in lower.inputs.items()}
lower.run(rows)
child = os.fork()
if child == 0:
    assert model("wake me at six") == wanted
    try:
        lower.run(rows)
    except KerasBertError as error:
        assert "received a fork of that process" in str(error)
    else:
        raise AssertionError("an interpreter ran in a fork")
    del model, lower  # the runtime's threads are not here: ending it would wait for them, or crash
    sys.exit()
assert os.waitpid(child, 0)[1] == 0
assert model("wake me at six") == wanted
"""


@pytest.mark.parametrize("isolated", ["plain", "isolated"])
@pytest.mark.long_cases
def test_a_forked_process_answers_rightly(isolated):
    done = subprocess.run(
        [sys.executable, "-c", FORK, "intents", isolated], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_task_in_a_forked_process_is_an_error(tiny, monkeypatch):
    """TensorFlow would wait forever."""
    task = tiny.narrow()
    monkeypatch.setattr("kerasbert.tasks.forks._process_ids", [1])
    packed = {"input_ids": np.ones((1, 8), np.int32)}
    for call in (
        tiny.narrow,
        lambda: task.predict(["good"]),
        lambda: task.predict(packed),
        lambda: task.score(["a"], [0]),
    ):
        with pytest.raises(KerasBertError, match="received a fork of one that had"):
            call()


def test_an_interrupted_request_is_not_the_answer_to_the_next_one(monkeypatch):
    model = kb.open("intents", isolated=True)
    wanted = [model(text) for text in TEXTS[:2]]
    receive = Channel.receive

    def interrupt(channel, seconds):
        monkeypatch.setattr(Channel, "receive", receive)
        raise KeyboardInterrupt

    monkeypatch.setattr(Channel, "receive", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model(TEXTS[0])
    assert [model(text) for text in (TEXTS[1], TEXTS[0])] == wanted[::-1]


@pytest.mark.long
def test_a_process_that_ended_is_started_again(monkeypatch):
    model = kb.open("intents", isolated=True)
    wanted = model(TEXTS[0])
    model.process._worker.process.kill()
    with pytest.raises(KerasBertError, match="killed by SIGKILL"):
        model(TEXTS[0])
    assert model(TEXTS[0]) == wanted


def test_closing_ends_a_request_of_another_thread(monkeypatch):
    model = kb.open("intents", isolated=True)
    file, waiting, receive = model.process, threading.Event(), Channel.receive

    def wait(channel, seconds):
        waiting.set()
        return receive(channel, seconds)

    monkeypatch.setattr(Channel, "send", lambda channel, header, arrays=None: None)  # so no reply comes
    monkeypatch.setattr(Channel, "receive", wait)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(model, TEXTS[0])
        assert waiting.wait(20)
        file.close()
        assert "received a call of close" in str(answer.exception(20))
    with pytest.raises(KerasBertError, match="received it closed"):
        model(TEXTS[0])
    file.close()


@pytest.mark.long
def test_a_model_lives_until_its_last_thread_is_done():
    process = []

    def work():
        model = kb.open("intents", isolated=True)
        process.append(model.process._worker.process)
        with ThreadPoolExecutor(THREADS) as pool:
            answers = [pool.submit(model, text) for text in TEXTS]
            del model  # while the threads run
            return [answer.result() for answer in answers]

    assert work() == kb.open("intents")(TEXTS)
    assert process[0].poll() is not None
