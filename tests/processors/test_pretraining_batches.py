"""Rows, masks and batches of pretraining on a stream."""

import json
from itertools import islice

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.data.text_stream import Document, TextStream
from kerasbert.errors import KerasBertError
from kerasbert.processors.masked_lm import MaskedWords
from kerasbert.processors.masking import LONGEST_SPAN, SPAN_STOPS, choose_tokens
from kerasbert.processors.pretraining_batches import PretrainingBatches
from kerasbert.processors.pretraining_rows import make_rows
from kerasbert.processors.word_pieces import word_pieces
from kerasbert.text import WordPiece

WORDS = "the film was good and we saw it end a book is dull but a long song was grim so very bright in that".split()


@pytest.fixture(scope="module")
def tokenizer():
    return WordPiece.train([" ".join(WORDS)] * 4, vocabulary_size=60)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, random = tmp_path_factory.mktemp("texts"), np.random.default_rng(0)
    for number in range(3):
        lines = []
        for _ in range(60):
            words = random.choice(WORDS, random.integers(3, 40))
            lines += [". ".join(map(" ".join, np.array_split(words, 3))) + ".", *([""] * (random.random() < 0.2))]
        (folder / f"{number}.txt").write_text("\n".join(lines))
    return folder


def batches(files, tokenizer, unit=None, length=32, seed=1, block_bytes=3000, **options):
    processor = MaskedWords(None, 0.15, False, 5, unit)
    return PretrainingBatches(
        TextStream(files, block_bytes=block_bytes), processor, tokenizer, length, 8, seed, **options
    )


def equal(one, other):
    pairs = [(one.inputs, other.inputs), (one.labels, other.labels)]
    return all(np.array_equal(a[name], b[name]) for a, b in pairs for name in a)


@pytest.mark.parametrize(
    "options", [{}, {"pairing": "next-sentence", "pair_output": "pair", "draws": True}, {"masks": 2}]
)
@pytest.mark.long_cases
def test_batches_repeat_and_begin_anywhere(files, tokenizer, options):
    """Also in a second pass over the texts, and where a batch has rows of two blocks."""
    made = batches(files, tokenizer, "spans", **options)
    all_batches = list(islice(made.batches(), 80))
    assert made.cursor(79).epoch >= 1
    for first in (3, 41, 77):
        again = batches(files, tokenizer, "spans", **options)
        again.begin_at(first, made.cursor(first))
        assert all(equal(one, other) for one, other in zip(again.batches(first), all_batches[first:], strict=False))
    other = next(batches(files, tokenizer, "spans", seed=2, **options).batches())
    assert not equal(all_batches[0], other)


def test_a_pass_has_every_token_once(files, tokenizer):
    stream = TextStream(files, block_bytes=3000)
    rows = [make_rows(block, tokenizer, 32, None, np.random.default_rng(0)) for block in stream.blocks(seed=4)]
    found = np.bincount(np.concatenate([part.ids[part.words >= 0] for part in rows]), minlength=60)
    whole = np.bincount(np.concatenate(tokenizer.token_ids(list(stream.texts()))), minlength=60)
    assert found.sum() >= whole.sum() - 8 * len(rows) and (found <= whole).all()
    assert {int(part.ids[row, 0]) for part in rows for row in range(len(part))} == {tokenizer.cls_id}


def test_rows_end_with_whole_words(tokenizer):
    text = " ".join(np.random.default_rng(1).choice(WORDS, 400))
    rows = make_rows([Document([text], [[]])], tokenizer, 16, None, np.random.default_rng(0))
    pieces = word_pieces(tokenizer)
    starts = [pieces.continues[rows.ids[row, 1]] for row in range(len(rows))]
    assert len(rows) > 20 and not any(starts) and (rows.lengths[:-1] >= 12).all()


def test_separators_stand_between_documents_and_nowhere_at_an_end(files, tokenizer):
    rows = make_rows(next(TextStream(files).blocks(0)), tokenizer, 64, None, np.random.default_rng(0))
    separators = rows.ids == tokenizer.sep_id
    assert separators.sum() > len(rows)  # some inside
    assert not separators[:, 1].any() and not (separators[:, :-1] & separators[:, 1:]).any()


@pytest.mark.parametrize("pairing", ["next-sentence", "sentence-order"])
def test_half_of_the_pairs_are_changed_and_segments_have_types(files, tokenizer, pairing):
    rows = make_rows(next(TextStream(files).blocks(0)), tokenizer, 48, pairing, np.random.default_rng(0))
    assert len(rows) > 60 and 0.35 < rows.pairs.mean() < 0.7
    for row in range(len(rows)):
        ids, types = rows.ids[row, : rows.lengths[row]], rows.types[row, : rows.lengths[row]]
        ends = np.flatnonzero(ids == tokenizer.sep_id)
        assert len(ends) == 2 and ends[1] == len(ids) - 1
        np.testing.assert_array_equal(types, np.arange(len(ids)) > ends[0])


def test_swapped_segments_are_those_of_the_text(tokenizer):
    sentences = ["the film was good.", "we saw it end."]
    document = Document([" ".join(sentences)], [[]])
    seen = {}
    for seed in range(12):
        rows = make_rows([document], tokenizer, 64, "sentence-order", np.random.default_rng(seed))
        row = rows.ids[0, : rows.lengths[0]]
        first = row[1 : np.flatnonzero(row == tokenizer.sep_id)[0]]
        seen[int(rows.pairs[0])] = first.tolist()
    expected = [ids.tolist() for ids in tokenizer.token_ids(sentences)]
    assert seen == {0: expected[0], 1: expected[1]}


def test_span_lengths_follow_their_law(tokenizer):
    """A geometric distribution without more than ten words, mean 3.8 (Joshi et al. 2020, section 3.1)."""
    pieces, random = word_pieces(tokenizer), np.random.default_rng(0)
    ids = np.array(tokenizer.encode([" ".join(WORDS * 6)], max_length=128).input_ids[0])
    numbers, counts, owed, tokens = pieces.word_numbers(ids), np.zeros(LONGEST_SPAN + 1), 0.0, 0
    for _ in range(3000):
        index, groups = choose_tokens(ids, pieces, 0.15, "spans", random, owed=owed)
        owed += 0.15 * 126 - len(index)
        tokens += len(index)
        for group in np.unique(groups):
            counts[len(np.unique(numbers[index[groups == group]]))] += 1
        assert not pieces.is_special(ids[index]).any()
    law = SPAN_STOPS * (1 - SPAN_STOPS) ** np.arange(LONGEST_SPAN)
    law /= law.sum()
    found = counts[1:] / counts.sum()
    np.testing.assert_allclose(found, law, atol=0.015)
    assert found @ np.arange(1, 11) == pytest.approx(3.8, abs=0.08)
    assert tokens / (3000 * 126) == pytest.approx(0.15, abs=0.001)


@pytest.mark.parametrize("unit", ["words", "n-grams", "spans"])
def test_words_are_masked_whole(files, tokenizer, unit):
    pieces = word_pieces(tokenizer)
    for batch in islice(batches(files, tokenizer, unit).batches(), 20):
        labels = batch.labels["logits"]
        originals = np.where(labels == -100, batch.inputs["input_ids"], labels)
        for row, of_row in zip(originals, labels, strict=True):
            numbers, chosen = pieces.word_numbers(row), of_row != -100
            assert not pieces.is_special(row[chosen]).any()
            for word in np.unique(numbers[chosen]):
                assert chosen[(numbers == word) & ~pieces.is_special(row)].all()


def test_static_masks_repeat_and_dynamic_masks_do_not(files, tokenizer):
    def masks(options):
        made = batches(files, tokenizer, block_bytes=100_000, **options)
        rows = {}
        for number, batch in enumerate(islice(made.batches(), 110)):
            labels = batch.labels["logits"]
            originals = np.where(labels == -100, batch.inputs["input_ids"], labels)
            for row, of_row in zip(originals, labels, strict=True):
                rows.setdefault(row.tobytes(), []).append((made.cursor(number).epoch, (of_row != -100).tobytes()))
        return [[mask for _, mask in found] for found in rows.values() if len(found) >= 3]

    static, dynamic = masks({"masks": 2}), masks({"masks": None})
    assert len(static) > 20 and all(len(set(found)) <= 2 for found in static)
    assert np.mean([len(set(found)) for found in dynamic if len(found) >= 3] or [3]) > 2.5


def test_entities_of_a_file_are_masked_whole(tokenizer, tmp_path):
    text = "we saw the very long song in that film and it was so good"
    row = {"text": text, "entities": [{"start": 7, "end": 25, "text": "the very long song", "label": "WORK"}]}
    (tmp_path / "texts.jsonl").write_text("\n".join([json.dumps(row)] * 200))
    made = batches(tmp_path / "texts.jsonl", tokenizer, "entities", length=32)
    entity = tokenizer.token_ids(["the very long song"])[0]
    whole = some = 0
    for batch in islice(made.batches(), 10):
        labels = batch.labels["logits"]
        originals = np.where(labels == -100, batch.inputs["input_ids"], labels)
        for of_row, ids in zip(labels, originals, strict=True):
            for start in range(len(ids) - len(entity)):
                if np.array_equal(ids[start : start + len(entity)], entity):
                    part = (of_row[start : start + len(entity)] != -100).mean()
                    whole, some = whole + (part == 1), some + (0 < part < 1)
    assert whole > 5 and not some
    with pytest.raises(KerasBertError, match="expected .jsonl files, whose lines have a text and its entities"):
        (tmp_path / "plain.txt").write_text(text)
        batches(tmp_path / "plain.txt", tokenizer, "entities")


def test_spans_that_do_not_match_their_corpus_name_the_line(tmp_path):
    good = {"text": "we saw it", "entities": [{"start": 3, "end": 6}]}
    for bad, message in {
        ((3, 12), None): "line 2: expected an entity with start and end inside its text of 9 characters",
        ((3, 3), None): "line 2: expected an entity with start and end inside",
        (
            (3, 6),
            "film",
        ): "line 2: expected the entity 'film' at 3 to 6, received 'saw' there; make the spans from this corpus",
    }.items():
        (start, end), word = bad
        row = {"text": "we saw it", "entities": [{"start": start, "end": end, **({"text": word} if word else {})}]}
        (tmp_path / "texts.jsonl").write_text(f"{json.dumps(good)}\n{json.dumps(row)}\n")
        with pytest.raises(KerasBertError, match=message):
            list(TextStream(tmp_path / "texts.jsonl").texts())


def test_keys_that_are_not_known_are_noted_and_texts_without_entities_refused(tokenizer, tmp_path, capsys):
    row = {"text": "we saw the very long song in that film", "spans": [[3, 6]]}
    (tmp_path / "texts.jsonl").write_text("\n".join([json.dumps(row)] * 20))
    with pytest.raises(KerasBertError, match="expected entities in .*texts.jsonl for masks of entities, received none"):
        next(batches(tmp_path / "texts.jsonl", tokenizer, "entities").batches())
    assert capsys.readouterr().err.count("1 unknown key (spans)") == 1


def test_files_of_a_stream(tmp_path):
    for path in ("missing.txt", tmp_path, str(tmp_path / "*.txt"), []):
        with pytest.raises(KerasBertError, match="expected"):
            TextStream(path)
    (tmp_path / "empty.txt").write_text("\n \n")
    with pytest.raises(KerasBertError, match="expected text in .*empty.txt, received none"):
        next(TextStream(tmp_path).blocks(0))
    (tmp_path / "binary.txt").write_bytes(b"\x80\x81\xff" * 40)
    with pytest.raises(KerasBertError, match=r"binary.txt"):
        list(TextStream(tmp_path).texts())
    (tmp_path / "binary.txt").unlink()
    (tmp_path / "one.txt").write_text("a " * 300_000)
    texts = list(TextStream(tmp_path / "one.txt").texts())
    assert len(texts) > 5 and sum(map(len, texts)) > 590_000  # a long line becomes several texts
    assert repr(kb.data.TextStream(tmp_path)) == "TextStream(2 files)"


def test_one_document_has_no_next_sentence_of_another(tokenizer, tmp_path):
    (tmp_path / "one.txt").write_text("the film was good.\nwe saw it end.\n")
    with pytest.raises(KerasBertError, match="expected two or more documents for next-sentence, received one"):
        next(batches(tmp_path / "one.txt", tokenizer, pairing="next-sentence").batches())
    with pytest.raises(KerasBertError, match="that fill a row, received too few words"):
        (tmp_path / "two.txt").write_text("so\n")
        next(batches(tmp_path / "two.txt", tokenizer).batches())
