"""Builds of zoo encoders: samples of texts, recipes, vectors, and a tiny build that is killed and goes on."""

import gzip
from dataclasses import replace

import numpy as np
import pytest
import tf_keras as keras

import kerasbert as kb
from kerasbert.console.progress import Progress
from kerasbert.encoders import BertConfig, BertEncoder
from kerasbert.errors import KerasBertError
from kerasbert.text import WordPiece
from kerasbert.zoo.building import build, teacher as teacher_module, vectors
from kerasbert.zoo.building.build import build_encoder
from kerasbert.zoo.building.pairs import single_rows
from kerasbert.zoo.building.recipe import Recipe, Stage
from kerasbert.zoo.building.saving import save_encoder
from kerasbert.zoo.building.students import VectorLoss
from kerasbert.zoo.building.texts import TextCounts, sample_texts, split_sentences, text_files
from kerasbert.zoo.catalog import ENCODER, models

WORDS = "the a cold warm lamp window table book lit dark old new reads sees moves near under over cat dog".split()


def paragraphs(count: int, seed: int) -> list[str]:
    draw = np.random.default_rng(seed)
    return [" ".join(draw.choice(WORDS, draw.integers(3, 9))) + "." for _ in range(count)]


@pytest.fixture
def texts(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("\n".join(paragraphs(40, 1)), "utf-8")
    with gzip.open(folder / "b.txt.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(paragraphs(160, 2)))
    (folder / "notes.md").write_text("not a text", "utf-8")
    return folder


@pytest.fixture
def teacher(tmp_path):
    keras.utils.set_random_seed(3)
    tokenizer = WordPiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"bcdef", *WORDS, "."])
    config = BertConfig(
        vocab_size=tokenizer.vocabulary_size, hidden_size=16, num_hidden_layers=3, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=160,
    )  # fmt: skip
    encoder = kb.SentenceEncoder(BertEncoder(config, None, pooler=True), tokenizer, sequence_length=160)
    encoder.save_pretrained(tmp_path / "teacher")
    return tmp_path / "teacher"


@pytest.fixture(autouse=True)
def few_held_out(monkeypatch):
    for module in (build, teacher_module):
        monkeypatch.setattr(module, "DEV_TEXTS", 16)


def recipe(**changes) -> Recipe:
    stages = [
        Stage(
            epochs=1, learning_rate=1e-3, texts=64, batch_size=16, objectives="hidden=1,relations=1", layer_map=[[1, 2]]
        ),
        Stage(epochs=2, learning_rate=1e-3, batch_size=16, cosines=1.0),
    ]
    return Recipe(**{"vocabulary": 30, "sentences": 150, "passages": 10, "stages": stages, "layers": [0, 2], **changes})


# -- texts and recipes -----------------------------------------------------------------------------------------------------------------


def test_text_files_of_folders_come_in_order(texts):
    assert [path.name for path in text_files([texts])] == ["a.txt", "b.txt.gz"]
    assert [path.name for path in text_files([texts / "b.txt.gz", texts / "a.txt"])] == ["b.txt.gz", "a.txt"]


@pytest.mark.parametrize(
    ("name", "received"), [("none", "nothing there"), ("notes.md", "another file"), ("empty", "a folder without any")]
)
def test_path_without_texts_is_an_error(texts, name, received):
    (texts / "empty").mkdir()
    with pytest.raises(KerasBertError, match=f"{name}: expected text files .*received {received}"):
        text_files([texts / name])


def test_no_texts_are_an_error():
    with pytest.raises(KerasBertError, match="received none; give --texts"):
        text_files([])


def test_sample_is_fixed_distinct_and_favours_small_files(texts):
    files = text_files([texts])
    samples = [sample_texts(files, TextCounts(60, 0), seed) for seed in (1, 1, 2)]
    assert samples[0] == samples[1] != samples[2]
    assert len(set(samples[0])) == len(samples[0]) == 60
    small = set(paragraphs(40, 1))
    assert sum(text in small for text in samples[0]) / 60 > 0.2, "its share of the words is smaller"


def test_larger_samples_than_files_give_every_text(texts):
    everything = sample_texts(text_files([texts]), TextCounts(10_000, 10), 1)
    assert len(everything) == len({*paragraphs(40, 1), *paragraphs(160, 2)})


def test_sentences_keep_numbers_whole_and_skip_markup():
    paragraph = 'Version 3.11 is out. "Is it late?" he asked. See [this] link. So.'
    assert list(split_sentences(paragraph)) == ["Version 3.11 is out.", "Is it late?", "he asked."]


def test_unknown_setting_of_a_recipe_suggests_the_nearest(tmp_path):
    path = tmp_path / "recipe.toml"
    path.write_text(
        "vocabulary = 30\nsentences = 5\npassages = 0\n[[stages]]\nepochs = 1\nlerning_rate = 1e-3\n", "utf-8"
    )
    with pytest.raises(KerasBertError, match="received 'lerning_rate'; did you mean learning_rate"):
        Recipe.read(path)


def test_unknown_recommendation_of_a_recipe_is_refused_before_the_build(tmp_path):
    path = tmp_path / "recipe.toml"
    path.write_text(
        "vocabulary = 30\nsentences = 5\npassages = 0\n[fine_tuning]\nlearning_rate = 1e-3\nepochs = 2\nhead_facter = 10\n",
        "utf-8",
    )
    with pytest.raises(KerasBertError, match="recipe.toml, fine_tuning: .*head_facter.*did you mean head_factor"):
        Recipe.read(path)


@pytest.mark.parametrize("model", [model for model in models() if model.kind == ENCODER], ids=lambda model: model.name)
def test_shipped_recipes_are_valid(model):
    assert Recipe.read(model.path / "recipe.toml").stages


def test_reduced_recipe_has_fewer_texts_in_every_stage():
    full = recipe()
    assert [stage.texts for stage in full.reduced(100).stages] == [64, 100]
    assert [stage.texts for stage in full.reduced(10).stages] == [10, 10]
    assert replace(full.reduced(10), stages=full.stages) == full


# -- builds ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_vectors_are_computed_once(teacher, tmp_path, monkeypatch):
    monkeypatch.setattr(vectors, "SHARD", 2)
    encoder, calls = kb.SentenceEncoder.from_pretrained(teacher, sequence_length=32), []
    file = vectors.as_file(encoder, tmp_path)

    class Counted:
        name = file.name

        def __call__(self, texts):
            calls.append(texts)
            return file(texts)

    first = vectors.teacher_vectors(Counted(), ["a", "lamp", "book"], tmp_path / "v")
    again = vectors.teacher_vectors(Counted(), ["a", "lamp", "cat"], tmp_path / "v")
    assert calls == [["a", "lamp"], ["book"], ["cat"]]
    np.testing.assert_array_equal(first[:2], again[:2])
    cosines = (first * encoder.predict(["a", "lamp", "book"])).sum(axis=1)
    assert cosines.min() > 0.995, "8-bit weights change the vectors little"
    prompted = vectors.teacher_vectors(Counted(), ["lamp"], tmp_path / "v", "old ")
    assert calls[-1] == ["old lamp"] and np.abs(prompted - first[1]).max() > 1e-3


def test_principal_directions_preserve_vectors_in_a_plane():
    draw = np.random.default_rng(0)
    points = draw.normal(size=(50, 2)) @ draw.normal(size=(2, 6))
    directions = vectors.principal_directions(points, 2)
    np.testing.assert_allclose(directions.T @ directions, np.eye(2), atol=1e-5)
    np.testing.assert_allclose(points @ directions @ directions.T, points, atol=1e-4)


@pytest.mark.long
def test_build_learns_and_is_saved_in_shards(texts, teacher, tmp_path, monkeypatch):
    from kerasbert.zoo.building import saving

    monkeypatch.setattr(saving, "SHARD_BYTES", 2000)
    student = build_encoder(recipe(), text_files([texts]), [teacher], tmp_path / "work")
    facts = save_encoder(student, tmp_path / "out")
    assert facts["shards"] > 1
    loaded = kb.SentenceEncoder.from_pretrained(tmp_path / "out")
    assert loaded.config.num_hidden_layers == 2 and loaded.config.vocab_size <= 30 and loaded.sequence_length == 128
    held_out = paragraphs(30, 5)
    target = kb.SentenceEncoder.from_pretrained(teacher).predict(held_out)
    cosines = (loaded.predict(held_out) * target).sum(axis=1)
    assert cosines.mean() > 0.9
    np.testing.assert_allclose(loaded.predict(held_out), student.predict(held_out), atol=2e-2)
    for path, variable in loaded.variables_by_path().items():
        sixteen_bits = variable.numpy().astype(np.float16).view(np.uint16)
        normal = np.abs(variable.numpy()) >= np.finfo(np.float16).tiny
        assert not (sixteen_bits[normal] & 0b1111).any(), f"{path} has more than seven bits, which do not compress"


@pytest.mark.long
def test_killed_build_goes_on_to_the_same_weights(texts, teacher, tmp_path, told):
    class Kill(type(told)):
        def advance(self, done, total=None, figures=()):
            if (
                self.stage == "training" and self.total == 18 and done == 9
            ):  # at the end of the second stage's first epoch
                raise KeyboardInterrupt

    files = text_files([texts])
    whole = build_encoder(recipe(), files, [teacher], tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        build_encoder(recipe(), files, [teacher], tmp_path / "work", Kill())
    resumed = build_encoder(recipe(), files, [teacher], tmp_path / "work", told)
    assert not any("epoch 1 of 1" in note for note in told.notes), "the finished stage is not repeated"
    for path, variable in whole.variables_by_path().items():
        np.testing.assert_allclose(variable, resumed.variables_by_path()[path], atol=1e-6, err_msg=path)


@pytest.mark.long
def test_a_second_teachers_vectors_are_learned(texts, teacher, tmp_path):
    """Its neighbours become the student's, though it starts as the first teacher."""
    keras.utils.set_random_seed(8)
    second = kb.SentenceEncoder.from_pretrained(teacher, sequence_length=160)
    words = second.variables_by_path()["encoder.embeddings.word.table"]
    words.assign(keras.initializers.RandomNormal(0, float(np.std(words)))(words.shape))
    second.save_pretrained(tmp_path / "second")
    stage = Stage(
        epochs=8, learning_rate=1e-2, batch_size=16, cosines=5.0, neighbours=1.0, distance=0.0, teacher="second",
        query_prompt="the ", passage_prompt="a ",
    )  # fmt: skip
    changes = {"stages": [*recipe().stages[:1], stage], "teachers": ["first", "second"]}
    folders = [teacher, tmp_path / "second"]
    student = build_encoder(recipe(**changes), text_files([texts]), folders, tmp_path / "work")
    others = paragraphs(60, 6)
    first, other = (kb.SentenceEncoder.from_pretrained(folder).predict(others) for folder in folders)
    own = student.predict(others)
    pairs = np.triu_indices(len(others), 1)
    likeness = [np.corrcoef((own @ own.T)[pairs], (each @ each.T)[pairs])[0, 1] for each in (first, other)]
    assert likeness[1] > likeness[0] + 0.1 and likeness[1] > 0.5, likeness
    with pytest.raises(KerasBertError, match=r"teachers in this order: first, second; received .*teacher"):
        build_encoder(recipe(**changes), text_files([texts]), folders[:1], tmp_path / "work")


@pytest.mark.long
def test_questions_have_the_vectors_of_queries_and_other_texts_both(texts, teacher, tmp_path):
    stage = Stage(epochs=1, learning_rate=1e-3, query_prompt="the ", passage_prompt="a ")
    rows = ["cat sees dog?", "cat sees dog."]
    made = teacher_module.Teacher(teacher, recipe(), rows * 60, 0, tmp_path / "work", Progress())
    found, means = made._vectors(rows, stage, centre=False)
    encoder = kb.SentenceEncoder.from_pretrained(teacher, sequence_length=128)
    query, both = encoder.predict(["the " + rows[0]]), encoder.predict(["the " + rows[1], "a " + rows[1]])
    mean = both.sum(axis=0) / np.linalg.norm(both.sum(axis=0))
    np.testing.assert_allclose((found * np.stack([query[0], mean])).sum(axis=1), 1, atol=2e-3)  # 8-bit weights
    assert len(means) == 2


@pytest.mark.long
def test_stages_branch_and_their_weights_are_averaged(texts, teacher, tmp_path, told):
    first = replace(recipe().stages[0], texts=110)
    branches = [replace(first, learning_rate=rate) for rate in (1e-3, 5e-3)]
    stages = [first, branches[0], replace(branches[1], begins_with=1), Stage(epochs=0, learning_rate=0, average=[2, 3])]
    files = text_files([texts])
    mean = build_encoder(recipe(stages=stages), files, [teacher], tmp_path / "work", told).variables_by_path()
    one, other = (
        build_encoder(recipe(stages=[first, each]), files, [teacher], tmp_path / f"work-{number}").variables_by_path()
        for number, each in enumerate(branches)
    )
    for path, variable in mean.items():
        np.testing.assert_allclose(variable, (one[path].numpy() + other[path].numpy()) / 2, atol=1e-5, err_msg=path)
    with pytest.raises(KerasBertError, match="expected stage 1 to name earlier stages, received 1"):
        recipe(stages=[replace(first, begins_with=1)])


@pytest.mark.long
def test_static_vectors_are_built_from_a_teacher(texts, teacher, tmp_path, told):
    stage = Stage(epochs=4, learning_rate=3e-2, batch_size=16, distance=0.0, pooled=0.0, neighbours=1.0, topic=40)
    changes = {"layers": [], "model_type": "static", "sizes": {"hidden_size": 8}, "stages": [stage]}
    student = build_encoder(recipe(**changes), text_files([texts]), [teacher], tmp_path / "work", told)
    save_encoder(student, tmp_path / "static", "static")
    found = kb.SentenceEncoder.from_pretrained(tmp_path / "static")
    assert found.config.model_type == "static" and found.width == 8 and found.config.hidden_dropout_prob == 0
    others = paragraphs(60, 6)
    vectors, wanted = (
        kb.SentenceEncoder.from_pretrained(each).predict(others) for each in (tmp_path / "static", teacher)
    )
    pairs = np.triu_indices(len(others), 1)
    assert np.corrcoef((vectors @ vectors.T)[pairs], (wanted @ wanted.T)[pairs])[0, 1] > 0.4


def test_centred_vectors_and_their_rotation():
    draw = np.random.default_rng(0)
    close = draw.normal(size=(40, 6)) * 0.1 + 3
    apart = vectors.centred(close, close.mean(axis=0))
    np.testing.assert_allclose(np.linalg.norm(apart, axis=1), 1, atol=1e-6)
    assert abs((apart @ apart.T)[np.triu_indices(40, 1)].mean()) < 0.1
    turned = apart @ np.linalg.qr(draw.normal(size=(6, 6)))[0]
    np.testing.assert_allclose(apart @ vectors.rotation(apart, turned), turned, atol=1e-5)


def test_neighbours_have_no_loss_where_the_order_and_the_distances_are_the_teachers():
    draw = np.random.default_rng(0)
    teacher = draw.normal(size=(6, 4)).astype(np.float32)
    teacher /= np.linalg.norm(teacher, axis=1, keepdims=True)
    truth = single_rows(teacher)
    loss = VectorLoss(0.0, 0.0, distance=0.0, neighbours=1.0)
    turned = (teacher @ np.linalg.qr(draw.normal(size=(4, 4)))[0]).astype(np.float32)
    same, other = (np.stack([each, each], axis=1) for each in (turned, draw.permutation(teacher)))
    assert float(loss(truth, same)) < 1e-5 < 0.1 < float(loss(truth, other))
    truth[0, -1] = 0.3  # a pair's vector is nobody's neighbour
    changed = same.copy()
    changed[0, 0] = -changed[0, 0]
    each = loss.call(truth, same).numpy()[1:], loss.call(truth, changed).numpy()[1:]
    np.testing.assert_allclose(*each, atol=1e-5)


def test_a_stage_with_an_unknown_teacher_is_an_error(texts, tmp_path):
    with pytest.raises(KerasBertError, match="one of the recipe's first, received 'second'; add it"):
        stages = [*recipe().stages, Stage(epochs=1, learning_rate=1e-3, teacher="second")]
        build_encoder(recipe(teachers=["first"], stages=stages), [texts], [texts], tmp_path / "work")
    assert not (tmp_path / "work").exists(), "nothing is trained before"


@pytest.mark.long
@pytest.mark.parametrize(
    ("model_type", "sizes"),
    [
        ("bert", {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}),
        ("albert", {"embedding_size": 8, "hidden_size": 8, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 16}),
        (
            "mobilebert",
            {"embedding_size": 8, "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16,
             "intra_bottleneck_size": 8, "num_feedforward_networks": 2},
        ),
    ],
)  # fmt: skip
def test_students_of_other_sizes_are_built(texts, teacher, tmp_path, model_type, sizes):
    stages = [Stage(epochs=1, learning_rate=1e-3, batch_size=16, objectives="hidden=1", layer_map=[[1, 2]])]
    changes = {"layers": [], "model_type": model_type, "sizes": sizes, "stages": stages}
    student = build_encoder(recipe(**changes), text_files([texts]), [teacher], tmp_path / "work")
    save_encoder(student, tmp_path / "out")
    loaded = kb.SentenceEncoder.from_pretrained(tmp_path / "out")
    assert loaded.config.model_type == model_type
    assert loaded.predict(["the lamp"]).shape == (1, sizes["hidden_size"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vocabulary": 32}, "recipe's 32 WordPiece tokens, received 31 of WordPiece"),
        ({"layers": [0, 3]}, "recipe's 4 layers, received one of 3"),
        ({"layers": [], "sizes": {"num_hidden_layers": 4}}, "recipe's 4 layers, received one of 3"),
    ],
)
def test_teacher_that_lacks_vocabulary_or_layers_is_an_error(texts, teacher, tmp_path, changes, message):
    with pytest.raises(KerasBertError, match=message):
        build_encoder(recipe(**changes), text_files([texts]), [teacher], tmp_path / "work")


def test_teacher_with_another_kind_of_vocabulary_is_an_error(texts, tmp_path):
    from kerasbert.encoders import AlbertConfig, AlbertEncoder
    from kerasbert.text import SentencePiece

    tokenizer = SentencePiece.train(paragraphs(200, 1), vocabulary_size=40)
    sizes = {
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
        "embedding_size": 8,
    }
    config = AlbertConfig(vocab_size=tokenizer.vocabulary_size, max_position_embeddings=130, **sizes)
    kb.SentenceEncoder(AlbertEncoder(config), tokenizer, sequence_length=128).save_pretrained(tmp_path / "albert")
    with pytest.raises(KerasBertError, match="WordPiece tokens, received 40 of SentencePiece; take another teacher"):
        build_encoder(recipe(), text_files([texts]), [tmp_path / "albert"], tmp_path / "work")


def test_too_few_texts_are_an_error(teacher, tmp_path):
    path = tmp_path / "short.txt"
    path.write_text("\n".join(dict.fromkeys(paragraphs(60, 1))), "utf-8")
    with pytest.raises(KerasBertError, match="at least 100 sentences, received [0-9]+; give more texts"):
        build_encoder(recipe(), [path], [teacher], tmp_path / "work")


@pytest.mark.parametrize(("count", "expected"), [(100, 10), (150, 15), (160, 16), (100_000, 16)])
def test_few_texts_hold_out_a_share(count, expected):
    assert teacher_module.held_out(count) == expected
