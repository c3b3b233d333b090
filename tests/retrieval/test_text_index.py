"""`TextIndex`: texts added, replaced, removed, searched, saved and read; what is refused."""

import json
import struct
import threading
import zlib
from pathlib import Path

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.errors import KerasBertError
from kerasbert.retrieval.reranking import combined_order

ROOT = Path(__file__).parents[2]
TEXTS = ["wake me at six", "set an alarm for noon", "play some jazz", "the soup was cold", "he sold his house"]
NAMES = ["a", "b", "c", "d", "e"]
LONG = "The film was long. " * 20 + "\n\nA parcel arrives in two days. " + "We saw it again. " * 20


@pytest.fixture(scope="module")
def search():
    return kb.open("search")


@pytest.fixture
def index(search):
    index = kb.TextIndex(search)
    index.add(TEXTS, NAMES)
    return index


@pytest.fixture(scope="module")
def content(search, tmp_path_factory):
    index = kb.TextIndex(search, dimensions=4)
    index.add(TEXTS, NAMES)
    return index.save(tmp_path_factory.mktemp("index") / "n.kbindex").read_bytes()


def test_the_nearest_text_is_found(index):
    found = index.search("an alarm clock", 2)
    assert [each["document"] for each in found] == ["b", "a"]
    assert found[0] == {
        "index": 1, "score": found[0]["score"], "text": TEXTS[1], "document": "b", "start": 0, "end": len(TEXTS[1])
    }  # fmt: skip
    assert found[0]["score"] == pytest.approx(index.model.similarity("an alarm clock", TEXTS[1]), abs=0.01)
    assert len(index.search("an alarm clock")) == 5 == len(index)


def test_long_documents_are_divided(search):
    index = kb.TextIndex(search, chunk=30, overlap=5)
    assert index.add([LONG], ["long"]).rows == len(index) > 5
    (found,) = index.search("when do I get my package", 1)
    assert "parcel" in found["text"] and LONG[found["start"] : found["end"]] == found["text"]
    whole = kb.TextIndex(search, chunk=0)
    whole.add([LONG])
    assert len(whole) == 1 and whole.documents == ("0",)


def test_documents_are_added_replaced_and_left(index):
    before = index.search("jazz", 5)
    assert index.add(TEXTS[:2], NAMES[:2]) == kb.Added(0, 0, 2, 0, 0)
    assert index.search("jazz", 5) == before
    added = index.add(["wake me at seven", TEXTS[1], "  ", "a new house"], ["a", "b", "blank", "f"])
    assert added == kb.Added(added=1, replaced=1, unchanged=1, blank=1, rows=2)
    assert index.documents == ("b", "c", "d", "e", "a", "f") and len(index) == 6
    assert index.search("wake me", 1)[0]["text"] == "wake me at seven"
    assert index.remove(["c", "d"]) == 2 and index.documents == ("b", "e", "a", "f")
    assert {each["document"] for each in index.search("jazz", 9)} == {"b", "e", "a", "f"}
    assert index.add([""], ["a"]) == kb.Added(0, 1, 0, 1, 0) and "a" not in index.documents


def test_names_default_to_numbers(search):
    index = kb.TextIndex(search)
    index.add(TEXTS[:2])
    index.add(TEXTS[2:4])
    assert index.documents == ("0", "1", "2", "3")


@pytest.mark.parametrize("settings", [{}, {"dimensions": 4}, {"vectors": "bit"}, {"chunk": 10, "overlap": 2}])
def test_a_saved_index_finds_the_same(search, tmp_path, settings):
    index = kb.TextIndex(search, **settings)
    index.add([*TEXTS, LONG], [*NAMES, "\u00e9\U0001f600"])
    path = index.save(tmp_path / "n.kbindex")
    read = kb.TextIndex.read(path, search)
    assert read.settings() == index.settings() and read.documents == index.documents
    for query in (*TEXTS, "parcel"):
        assert read.search(query, 4) == index.search(query, 4)
    assert read.add(["more"], ["more"]).rows == 1
    read.save(path)
    assert len(kb.TextIndex.read(path)) == len(index) + 1  # by the name of the model


def test_bits_take_an_eighth(search, tmp_path):
    sizes = []
    for form in ("int8", "bit"):
        index = kb.TextIndex(search, vectors=form)
        index.add([f"text {number}" for number in range(64)])
        sizes.append(index.save(tmp_path / f"{form}.kbindex").stat().st_size)
    assert sizes[0] - sizes[1] == 64 * 384 * 7 // 8


@pytest.mark.long
def test_a_reranker_orders_the_first(index, tiny, tmp_path):
    task = tiny.narrow(labels=["LABEL_0"], problem="regression")
    task.classifier.kernel.assign(task.classifier.kernel * 20)
    file = tmp_path / "reranker.tflite"
    kb.export.convert(task, recipe="float32").save(file)
    plain = index.search("an alarm clock", 3)
    found = index.search("an alarm clock", 2, rerank=file, candidates=3, rerank_weight=1)
    expected = kb.open(file).rank("an alarm clock", [each["text"] for each in plain], 2)
    assert [(each["text"], each["score"]) for each in found] == [(each["text"], each["score"]) for each in expected]
    for each in found:
        first = next(other for other in plain if other["index"] == each["index"])
        assert each == {**first, "score": each["score"], "cosine": first["score"]}
    same = index.search("an alarm clock", 3, rerank=file, candidates=3, rerank_weight=0)
    assert [each["index"] for each in same] == [each["index"] for each in plain]
    with pytest.raises(KerasBertError, match="one score for a pair"):
        index.search("an alarm clock", rerank="intents")
    with pytest.raises(KerasBertError, match="rerank_weight"):
        index.search("an alarm clock", rerank=file, rerank_weight=1.5)


def test_cosines_and_scores_of_pairs_count_alike_whatever_their_ranges():
    cosines, scores = [0.9, 0.8, 0.7], [-2.0, 10.0, 1.0]
    assert (
        combined_order(cosines, scores, 0.5)
        == combined_order(cosines, [each / 1000 for each in scores], 0.5)
        == [1, 0, 2]
    )
    assert combined_order(cosines, scores, 0) == [0, 1, 2]
    assert combined_order(cosines, scores, 1) == [1, 2, 0]
    assert combined_order(cosines, [0.5, 0.5, 0.5], 0.9) == [0, 1, 2]
    assert combined_order([0.4], [0.1], 0.5) == [0]


def test_kotlin_and_javascript_read_orders_of_python():
    cases = json.loads((ROOT / "android_demo" / "testdata" / "reranking.json").read_text("utf-8"))
    assert all(combined_order(case["cosines"], case["scores"], case["weight"]) == case["order"] for case in cases)
    assert any(case["order"] != sorted(case["order"]) for case in cases)


def test_one_thread_searches_while_another_adds(index):
    errors = []

    def search():
        try:
            for _ in range(20):
                assert index.search("an alarm clock", 1)
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(5):
        index.add([f"more {number}"], [f"more {number}"])
    for thread in threads:
        thread.join()
    assert not errors and len(index) == 10


def test_a_search_does_not_wait_for_texts_that_are_being_added(index, search):
    found = []
    fresh = kb.TextIndex(search)
    fresh.add(TEXTS, NAMES)

    def report(done, rows):
        thread = threading.Thread(target=lambda: found.append(fresh.search("an alarm clock", 1)[0]["document"]))
        thread.start()
        thread.join(30)

    fresh.add(["one more"], ["f"], report=report)
    assert found and set(found) == {"b"}


def test_the_same_dimensions_are_taken_again(search, tmp_path):
    index = kb.TextIndex(search, dimensions=384)
    index.add([f"text {number}" for number in range(400)])
    kb.TextIndex.read(index.save(tmp_path / "a.kbindex")).check_settings(dimensions=384)


def test_a_model_that_is_not_there_is_named(content, tmp_path):
    path = tmp_path / "n.kbindex"
    for name, message in (("nowhere", "nowhere"), ("", "as the demos write it")):
        parts = list(sections(content))
        info = parts[0][1].replace(
            (6).to_bytes(4, "little") + b"search", len(name).to_bytes(4, "little") + name.encode()
        )
        out = content[:8]
        for tag, part in [(b"INFO", info), *parts[1:]]:
            out += struct.pack("<4sIQ", tag, zlib.crc32(part), len(part)) + part + bytes(-len(part) % 8)
        path.write_bytes(out)
        with pytest.raises(KerasBertError, match=f"{message}.*name the model with"):
            kb.TextIndex.read(path)
        assert len(kb.TextIndex.read(path, "search")) == 5


def test_a_text_that_ends_within_a_character_is_refused(search, tmp_path):
    index = kb.TextIndex(search, chunk=0)
    index.add(["caf\u00e9", "th\u00e9"])
    path = index.save(tmp_path / "a.kbindex")
    out = path.read_bytes()[:8]
    for tag, part in sections(path.read_bytes()):
        part = part.replace(struct.pack("<II", 5, 9), struct.pack("<II", 4, 9)) if tag == b"ROWS" else part
        out += struct.pack("<4sIQ", tag, zlib.crc32(part), len(part)) + part + bytes(-len(part) % 8)
    path.write_bytes(out)
    with pytest.raises(KerasBertError, match="which is damaged"):
        kb.TextIndex.read(path, search)


def test_what_is_refused(search, index, tmp_path):
    with pytest.raises(KerasBertError, match="sentence encoder to search texts"):
        kb.TextIndex("intents")
    for settings in ({"chunk": 1000}, {"overlap": 70}, {"dimensions": 0}, {"vectors": "int4"}, {"engine": "hnsw"}):
        with pytest.raises(KerasBertError, match="expected"):
            kb.TextIndex(search, **settings)
    for arguments in ((["a"], ["a", "b"]), (["a", "b"], ["a", "a"]), ("a",), ([1],)):
        with pytest.raises(KerasBertError, match="expected"):
            index.add(*arguments)
    with pytest.raises(KerasBertError, match="with words to search"):
        kb.TextIndex(search).add(["  "])
    with pytest.raises(KerasBertError, match="received 'z'"):
        index.remove(["z"])
    with pytest.raises(KerasBertError, match="a query with words"):
        index.search(" ")
    with pytest.raises(KerasBertError, match="top_k"):
        index.search("a", 0)
    with pytest.raises(KerasBertError, match="ending in .kbindex"):
        index.save(tmp_path / "a.index")
    with pytest.raises(KerasBertError, match="add some first"):
        kb.TextIndex(search).save(tmp_path / "a.kbindex")
    assert kb.TextIndex(search).search("a") == []
    other = tmp_path / "other.kbindex"
    other.write_bytes(b"mine")
    with pytest.raises(KerasBertError, match="or one that kerasbert wrote"):
        index.save(other)
    with pytest.raises(KerasBertError, match="4 texts or more"):
        kb.TextIndex(search, dimensions=4).add(["a", "b"])


def test_an_index_of_another_model_is_refused(content, tmp_path):
    path = tmp_path / "n.kbindex"
    path.write_bytes(content)
    with pytest.raises(KerasBertError, match="opened as 'search', received 'small-en' with other weights"):
        kb.TextIndex.read(path, "small-en")


def test_every_damaged_index_is_refused(content, search, tmp_path):
    path = tmp_path / "n.kbindex"
    random = np.random.default_rng(1)
    for place in random.choice(len(content), 150, replace=False).tolist() + [4, 5, 6, 7, len(content) - 1]:
        changed = bytearray(content)
        changed[place] = (changed[place] + int(random.integers(1, 256))) % 256
        path.write_bytes(changed)
        with pytest.raises(KerasBertError, match="expected an index of kerasbert index"):
            kb.TextIndex.read(path, search)
    for size in [*range(40), *random.choice(len(content), 60)]:
        path.write_bytes(content[:size])
        with pytest.raises(KerasBertError, match="another file|cut short"):
            kb.TextIndex.read(path, search)
    path.write_bytes(b"KBSI" + (1).to_bytes(4, "big"))
    with pytest.raises(KerasBertError, match="of version 1, where this program reads 2"):
        kb.TextIndex.read(path)
    with pytest.raises(KerasBertError, match="No such file"):
        kb.TextIndex.read(tmp_path / "none.kbindex")


def sections(content):
    place = 8
    while place < len(content):
        tag, _, length = struct.unpack_from("<4sIQ", content, place)
        yield tag, content[place + 16 : place + 16 + length]
        place += 16 + length + -length % 8


def test_contents_with_right_checksums_are_checked_too(content, search, tmp_path):
    """A hostile file has right checksums."""
    path = tmp_path / "n.kbindex"
    random = np.random.default_rng(2)
    parts = list(sections(content))
    refused = 0
    for _ in range(300):
        out = bytearray(content[:8])
        which = int(random.integers(len(parts)))
        for number, (tag, part) in enumerate(parts):
            if number == which:
                part = bytearray(part)
                for place in random.choice(len(part), min(4, len(part)), replace=False):
                    part[place] = int(random.choice([0, 1, 127, 128, 255]))
            out += struct.pack("<4sIQ", tag, zlib.crc32(part), len(part)) + part + bytes(-len(part) % 8)
        path.write_bytes(out)
        try:
            kb.TextIndex.read(path, search).search("an alarm")
        except KerasBertError:
            refused += 1
    assert refused > 50
