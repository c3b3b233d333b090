"""Topics of training texts: clusters of the teacher's vectors, which the batches follow."""

from pathlib import Path

import numpy as np

from kerasbert.tasks.inputs import batches
from kerasbert.zoo.building.pairs import single_rows
from kerasbert.zoo.building.recipe import Stage
from kerasbert.zoo.building.teacher import TeacherTexts
from kerasbert.zoo.building.topics import TopicDataset, find_topics


def directions(count):
    """Unit vectors around four directions, in turn."""
    draw = np.random.default_rng(0)
    centres = np.eye(4, 8, dtype=np.float32)[np.arange(count) % 4]
    vectors = (centres + draw.normal(0, 0.05, (count, 8))).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_texts_of_one_direction_are_one_topic():
    topics = find_topics(directions(200), 50, epochs=2, seed=1)
    assert topics.shape == (2, 200) and topics.min() == 0 and topics.max() == 3
    for order in topics:
        largest = [np.bincount(np.flatnonzero(order == topic) % 4).max() for topic in range(4)]
        assert sum(largest) >= 150, largest  # k-means may split one direction, and join two
    np.testing.assert_array_equal(topics, find_topics(directions(200), 50, epochs=2, seed=1))
    assert find_topics(directions(20), 1024, epochs=9, seed=1).shape == (4, 20)  # one topic; four orders at most


def test_a_stage_with_topics_has_batches_of_one_topic(tiny):
    model = tiny.sentence_encoder()
    texts = [" ".join(tiny.rows(1, seed=number)[0]) for number in range(80)]
    vectors = directions(80)
    made = TeacherTexts(Path("texts.txt"), texts, vectors, vectors, lambda more: vectors[: len(more)])
    rows, dev = made.tables(Stage(epochs=1, learning_rate=0.1, topic=18), seed=1)
    assert isinstance(rows, TopicDataset) and len(rows) == 72 and type(dev) is not TopicDataset
    features = rows.features(model.processor, model.tokenizer, 16)[1]
    order = batches(model, features, single_rows(vectors[:72]), batch_size=9, shuffle=True)[1]
    groups = [set(rows.topics[0][batch]) for batch in order]
    assert len(groups) == 8 and all(len(each) == 1 for each in groups)
    plain, _ = made.tables(Stage(epochs=1, learning_rate=0.1), seed=1)
    assert type(plain) is not TopicDataset
