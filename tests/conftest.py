"""Tiny models for every test: 40 words, 2 layers of width 32, texts whose class follows from one rule.

Most of a test's time is that of building and tracing layers. Where nothing depends on their number, a file is marked `one_layer`.

A text is positive when it holds more good words than bad ones. Models that take time to make are made once a session; tests must not
change them.
"""

import argparse
import gc
import sys
from types import SimpleNamespace

import numpy as np
import pytest

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
GOOD = ("good", "fine", "great", "lovely", "warm", "bright")
BAD = ("bad", "poor", "awful", "dull", "cold", "grim")
OTHER = (
    "the",
    "a",
    "film",
    "book",
    "song",
    "was",
    "is",
    "and",
    "it",
    "very",
    "so",
    "end",
    "start",
    "of",
    "in",
    "we",
    "saw",
)
VOCABULARY = (*SPECIAL, *GOOD, *BAD, *OTHER, "##s", "##ly", ".", ",", "?", "!")
LABELS = ("negative", "positive")
SIZES = {
    "vocab_size": len(VOCABULARY),
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 32,
    "initializer_range": 0.1,
}
SEQUENCE_LENGTH = 16


def pytest_xdist_make_scheduler(config, log):
    """Tests of the command line stay together, file by file as all others do: what they share takes seconds to make."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class LoadPlaces(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return "tests/cli" if nodeid.startswith("tests/cli/") else super()._split_scope(nodeid)

    return LoadPlaces(config, log)


def _share(text):
    try:
        number, count = map(int, text.split("/"))
    except ValueError:
        number, count = 0, 0
    if not 1 <= number <= count:
        raise argparse.ArgumentTypeError(f"expected K/N with K from 1 to N, such as 1/3, received {text!r}")
    return number, count


def pytest_addoption(parser):
    parser.addoption(
        "--share",
        type=_share,
        default=(1, 1),
        metavar="K/N",
        help="run the K-th of N shares; all shares run every test once",
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config, items):
    _mark_long_cases(items)
    yield  # options such as -m choose here
    number, count = config.getoption("--share")
    # Tests of a file share what takes time to make; each page of the documents stands alone.
    places = [item.nodeid if "examples" in item.keywords else str(item.path) for item in items]
    order = {place: index for index, place in enumerate(dict.fromkeys(places))}
    chosen = [order[place] % count == number - 1 for place in places]
    config.hook.pytest_deselected(items=[item for item, taken in zip(items, chosen, strict=True) if not taken])
    items[:] = [item for item, taken in zip(items, chosen, strict=True) if taken]


def _mark_long_cases(items):
    """Marks the cases of a test `long` that its `long_cases` does not keep: one or two stand for all of them in `make test`."""
    seen = set()
    for item in items:
        mark = item.get_closest_marker("long_cases")
        if mark is None:
            continue
        test = (item.path, item.originalname)
        kept = any(word in item.name for word in mark.args) if mark.args else test not in seen
        seen.add(test)
        if not kept:
            item.add_marker(pytest.mark.long)


def pytest_collection_finish():
    """Keeps what libraries made while they were imported out of garbage collections, and makes those rare: they took time."""
    _forget()
    gc.set_threshold(20_000, 20, 20)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """The same for what a file of tests leaves: every conversion collects garbage, and would look through all of it."""
    done = yield
    if nextitem is not None and nextitem.path != item.path:
        _forget()
    return done


def _forget():
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def layers_of_file(request):
    """The number of layers of the models of a file, which its fixtures and tests make."""
    before = SIZES["num_hidden_layers"]
    if request.node.get_closest_marker("one_layer"):
        SIZES["num_hidden_layers"] = 1
    yield
    SIZES["num_hidden_layers"] = before


@pytest.fixture(scope="session", autouse=True)
def quick_release():
    """A conversion gives memory back to the system, and looks for garbage first: tiny models leave none that is worth the search."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kerasbert.memory.gc", SimpleNamespace(collect=lambda: gc.collect(0)))
        yield


def _optimize_graphs(enabled):
    import tensorflow as tf

    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": not enabled})


@pytest.fixture(scope="session", autouse=True)
def unoptimized_graphs():
    """TensorFlow rewrites a graph before its first run, for a second or more: tiny models have run their few steps by then."""
    if "tensorflow" not in sys.modules:
        yield
        return
    _optimize_graphs(False)
    yield
    _optimize_graphs(True)


@pytest.fixture(scope="module")
def optimized_graphs(unoptimized_graphs):
    """Graphs as a process of the command has them, for tests that compare numbers to the bit."""
    _optimize_graphs(True)
    yield
    _optimize_graphs(False)


def rows(count: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Texts of 3 to 12 words and their labels."""
    draw = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(count):
        positive = bool(draw.integers(2))
        words = list(draw.choice(OTHER, draw.integers(2, 10)))
        for word in draw.choice(GOOD if positive else BAD, draw.integers(1, 4)):
            words.insert(int(draw.integers(len(words) + 1)), str(word))
        texts.append(" ".join(words))
        labels.append(LABELS[positive])
    return texts, labels


def tokenizer():
    from kerasbert.text import WordPiece

    return WordPiece(VOCABULARY)


def encoder(policy=None, pooler=True, **sizes):
    from kerasbert.encoders import BertConfig, BertEncoder

    return BertEncoder(BertConfig(**{**SIZES, **sizes}), policy, pooler=pooler)


def classifier(seed: int = 0, policy=None, sizes=None, **settings):
    """An untrained TextClassifier; `sizes` replace the config's."""
    import tf_keras as keras

    from kerasbert.tasks import TextClassifier

    keras.utils.set_random_seed(seed)
    settings = {"labels": LABELS, "sequence_length": SEQUENCE_LENGTH, **settings}
    return TextClassifier(encoder(policy, **(sizes or {})), tokenizer(), **settings)


TWO_LAYERS = {"num_hidden_layers": 2}


def sentence_encoder(seed: int = 0, sizes=None, **settings):
    """A SentenceEncoder with random weights."""
    import tf_keras as keras

    from kerasbert.tasks import SentenceEncoder

    keras.utils.set_random_seed(seed)
    settings = {"sequence_length": SEQUENCE_LENGTH, **settings}
    return SentenceEncoder(encoder(**(sizes or {})), tokenizer(), **settings)


def narrow(seed: int = 0, **settings):
    """The smallest TextClassifier, one layer of width 8, for what does not depend on size; run eagerly it needs no tracing."""
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    return classifier(seed, sizes=sizes, **settings)


def mobilebert(**settings):
    """An untrained classifier."""
    import tf_keras as keras

    from kerasbert.encoders import MobileBertConfig, MobileBertEncoder
    from kerasbert.tasks import TextClassifier

    keras.utils.set_random_seed(0)
    config = MobileBertConfig(**{**SIZES, "embedding_size": 16, "intra_bottleneck_size": 16, **settings})
    return TextClassifier(MobileBertEncoder(config), tokenizer(), labels=LABELS, sequence_length=SEQUENCE_LENGTH)


@pytest.fixture(scope="session")
def tiny():
    """The functions and names above; test modules cannot import a conftest."""
    return SimpleNamespace(
        rows=rows,
        tokenizer=tokenizer,
        encoder=encoder,
        classifier=classifier,
        narrow=narrow,
        sentence_encoder=sentence_encoder,
        mobilebert=mobilebert,
        vocabulary=VOCABULARY,
        labels=LABELS,
        sizes=SIZES,
        length=SEQUENCE_LENGTH,
    )


def learned(model, epochs: int):
    """The model after so many passes over texts that follow the rule."""
    from kerasbert.training import adamw

    model.compile(adamw(3e-3, warmup=0, decay="constant"))
    model.fit(*rows(256), epochs=epochs, seed=0, verbose=0)
    return model


@pytest.fixture(scope="session")
def trained():
    """A classifier that has learned the rule, biases and norm scales away from their first values."""
    return learned(classifier(sizes=TWO_LAYERS), epochs=3)


@pytest.fixture(scope="session")
def learned_mobilebert():
    """A MobileBERT that has learned the rule."""
    return learned(mobilebert(num_feedforward_networks=2, **TWO_LAYERS), epochs=6)


@pytest.fixture(scope="session")
def static_model(trained):
    """`trained` after calibration and some quantization-aware training."""
    import kerasbert as kb

    texts, labels = rows(128, seed=1)
    model = kb.compression.quantize(trained, "static_wi8_ai8", calibration=texts[:64])
    model.compile(kb.adamw(1e-3, warmup=0, decay="constant"))
    model.fit(texts, labels, seed=0, verbose=0)
    return model


@pytest.fixture(scope="session")
def dynamic_model(trained):
    """`trained` with int8 kernels and tables."""
    import kerasbert as kb

    return kb.compression.quantize(trained, "dynamic_wi8_afp32")


@pytest.fixture(scope="session")
def vectors():
    """A SentenceEncoder; random weights with norm scales, biases and shifts that are not ones and zeros."""
    model = sentence_encoder(seed=3, sizes=TWO_LAYERS)
    draw = np.random.default_rng(3)
    for path, variable in model.variables_by_path().items():
        if path.endswith(("bias", "gamma", "beta")):
            variable.assign(variable + draw.normal(0, 0.2, variable.shape))
    return model


@pytest.fixture(scope="session")
def static_vectors(vectors):
    """`vectors` with calibrated ranges."""
    import kerasbert as kb

    return kb.compression.quantize(vectors, "static_wi8_ai8", calibration=rows(64, seed=1)[0])


@pytest.fixture
def told():
    """A progress that keeps what it is told: `steps` as (stage, done, total, figures), and `notes`."""
    from kerasbert.console.progress import Progress

    class Told(Progress):
        def __init__(self):
            self.steps, self.notes, self.note = [], [], lambda line: self.notes.append(line)

        def begin(self, stage, total=0, unit=""):
            self.stage, self.total = stage, total

        def advance(self, done, total=None, figures=()):
            self.steps.append((self.stage, done, self.total if total is None else total, figures))

    return Told()


@pytest.fixture
def site_parts(tmp_path, monkeypatch):
    """Small stand-ins of the page and of LiteRT.js, from which `kerasbert web` builds; returns the folder of the page."""
    page, home = tmp_path / "page", tmp_path / "home"
    for path, content in PAGE_FILES.items():
        _write(page / path, content)
    for path, content in LITERT_FILES.items():
        _write(home / "web" / "node_modules" / "@litertjs" / path, content)
    monkeypatch.setenv("KERASBERT_HOME", str(home))
    monkeypatch.setattr("kerasbert.web.page_files.ROOT", page)
    from kerasbert.export.backends.environments.known import WEB

    _write(home / "web" / ".complete", "\n".join(WEB.packages))
    return page


PAGE_FILES = {
    "index.html": "<!doctype html>\n<title>page</title>\n", "app.js": "export {};\n", "core/error.js": "export {};\n",
    "icons/icon.png": "png", "tests/page.test.js": "no part of a site", "node/engine.js": "no part of a site",
    "run.mjs": "no part of a site", "package.json": "{}", "README.md": "no part of a site", "app.js~": "no part of a site",
    "core/.error.js.swp": "no part of a site",
}  # fmt: skip
LITERT_FILES = {
    "core/dist/index.js": 'import { createWasmLib } from "@litertjs/wasm-utils";\nexport { createWasmLib };\n'
    "//# sourceMappingURL=index.js.map\n",
    "wasm-utils/dist/index.js": "export const createWasmLib = 1;\n//# sourceMappingURL=index.js.map",
    **{
        f"core/wasm/litert_wasm_{build}internal.{suffix}": f"{build} {suffix}"
        for build in ("", "compat_", "jspi_", "threaded_") for suffix in ("js", "wasm")
    },
}  # fmt: skip


def _write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, "utf-8")
