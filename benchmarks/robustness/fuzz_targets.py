"""Every reader of files, with small valid inputs to damage. The inputs are generated; nothing is downloaded."""

import functools
import gzip
import io
import json
import pickle
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = (*SPECIAL, *"abcdefgh", "good", "bad", "film", "##s", "##ly", ".", ",", "é", "東")
TEXTS = ["good film, bad films", "é [MASK] 東 \u200b x", ""]


@dataclass(frozen=True)
class Target:
    """A reader with valid inputs.

    Attributes:
        name: For results.
        read: Takes the folder with the files, reads them and uses the result like a command.
        seeds: Makes the valid inputs, each as files by name.
        damaged: The files to damage, one at a time; by default all.
        slow: Whether an input takes milliseconds; such a reader gets few inputs in the tests.
    """

    name: str
    read: Callable[[Path], object]
    seeds: Callable[[], list[dict[str, bytes]]]
    damaged: tuple[str, ...] = ()
    slow: bool = False


def targets() -> list[Target]:
    """List all readers."""
    return [*_DATA, *_TEXT, *_CHECKPOINTS, *_OWN]


# Data files.


def _table(folder: Path) -> None:
    from kerasbert.data.labels import LabelSet
    from kerasbert.data.tables import read_table

    (path,) = folder.iterdir()
    table = read_table(path)
    table.describe()
    if table.labels is not None:
        _try_all(
            lambda: LabelSet.from_values(table.labels).index(table.labels),
            lambda: LabelSet.from_cells(table.labels).multi_hot(table.labels),
            lambda: LabelSet.to_scores(table.labels),
        )


def _conll(folder: Path) -> None:
    from kerasbert.data.conll import read_conll, read_tagged_lines

    (path,) = folder.iterdir()
    _try_all(lambda: read_conll(path).describe(), lambda: read_tagged_lines(path).describe())


def _tagged(folder: Path) -> None:
    from kerasbert.data.tagged_tables import read_tagged_table

    (path,) = folder.iterdir()
    _try_all(lambda: read_tagged_table(path).describe(), lambda: read_tagged_table(path, skip_bad_rows=True).describe())


def _squad(folder: Path) -> None:
    from kerasbert.data.squad import read_squad

    (path,) = folder.iterdir()
    read_squad(path).describe()


def _choices(folder: Path) -> None:
    from kerasbert.data.choices import read_choices
    from kerasbert.processors import make_processor

    (path,) = folder.iterdir()
    table = read_choices(path)
    table.describe()
    if table.y is not None:
        problem = make_processor("multiple_choice")
        problem.encode_labels(
            table.y, problem.examples(table.x), problem.features(problem.examples(table.x), _wordpiece(), 16)
        )


def _glue(folder: Path) -> None:
    from kerasbert.data.glue import read_glue

    read_glue(folder, "cola", "train").describe()


def _plain(folder: Path) -> None:
    from kerasbert.data.plain_text import pairs_from_text, read_text

    (path,) = folder.iterdir()
    text = read_text(path)
    text.describe()
    read_text(path, unit="paragraph")
    _try_all(lambda: pairs_from_text(text), lambda: pairs_from_text(text, "sentence_order"))


def _cells(folder: Path) -> None:
    """Labels of the Python API, one cell per line."""
    from kerasbert.data.labels import LabelSet

    cells = (folder / "labels").read_bytes().decode("utf-8", "surrogateescape").split("\n")
    _try_all(*(lambda use=use: use(cells) for use in (LabelSet.from_values, LabelSet.from_cells, LabelSet.to_scores)))


def _recipe(folder: Path) -> None:
    from kerasbert.training.config import TrainConfig

    recipe = TrainConfig(**TrainConfig.read(folder / "config.toml"))
    recipe.write(folder / "again.toml")
    (folder / "again.toml").unlink()


_ROWS = [("a good film", "bad", "x"), ("a b, c", "good", "1"), ('say ""', "é", "y")]
_OBJECTS = [{"text": a, "pair": b, "label": c} for a, b, c in _ROWS]
_ANSWERS = {"text": ["film"], "answer_start": [7]}


def _lines(objects) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in objects)


def _tables() -> list[dict[str, bytes]]:
    tsv = "text\tpair\tlabel\n" + "".join("\t".join(row) + "\n" for row in _ROWS)
    csv = "text,label\n" + 'a,1\n"b, ""c""",2\n"d\ne",3\n'
    lines = _lines(_OBJECTS) + _lines([{"text": "c", "pair": "d", "label": "1.5"}])
    numbers = _lines([{"text": "a", "label": 1}, {"text": "b", "label": 2.5}])
    return [
        {"a.tsv": tsv.encode()}, {"a.csv": csv.encode()}, {"a.jsonl": lines}, {"a.jsonl": numbers},
        {"a.tsv.gz": gzip.compress(tsv.encode(), mtime=0)}, {"a.jsonl.gz": gzip.compress(lines, mtime=0)},
        {"a.jsonl": _lines([{"sentence": "a", "label": ["x", "y"]}, {"sentence": "b", "label": []}])},
    ]  # fmt: skip


def _sentences() -> list[dict[str, bytes]]:
    columns = "-DOCSTART- -X- O\n\nJohn NNP B-PER\nSmith NNP I-PER\n. . O\n\nin IN O\nRome NNP I-LOC\n"
    rows = "# a\n1-2\ta b\t_\tX\t_\t_\t_\t_\t_\t_\n1\ta\ta\tX\t_\t_\t_\t_\t_\t_\n2\tb\tb\tY\t_\t_\t_\t_\t_\t_\n"
    lines = _lines([{"words": ["a", "b"], "tags": ["B-X", "O"]}, {"words": ["c"], "tags": ["S-Y"]}])
    return [
        {"a.conll": columns.encode()}, {"a.conll": rows.encode()}, {"a.jsonl": lines},
        {"a.conll": b"a b c\tPER-B O O\nd\tO\n"}, {"a.conll.gz": gzip.compress(columns.encode(), mtime=0)},
    ]  # fmt: skip


def _tagged_rows() -> list[dict[str, bytes]]:
    lists = b'tokens,tags\n"[""a"", ""b""]","[""B-X"", ""O""]"\n"[\'c\']","[\'O\']"\nd e,O B-Y\n'
    words = b"sentence,word,tag\n1,John,B-PER\n1,Smith,I-PER\n2,Rome,B-LOC\n"
    return [{"a.csv": lists}, {"a.csv": words}, {"a.csv": words.replace(b",", b";")}]


def _questions() -> list[dict[str, bytes]]:
    answerable = {"question": "q", "id": "1", "answers": [{"text": "film", "answer_start": 7}], "is_impossible": False}
    unanswerable = {"question": "r", "id": "2", "answers": [], "is_impossible": True}
    content = {"data": [{"title": "t", "paragraphs": [{"context": "a good film", "qas": [answerable, unanswerable]}]}]}
    flat = [{"question": "q", "context": "a good film", "answers": _ANSWERS}]
    whole = json.dumps(content).encode()
    return [
        {"a.json": whole}, {"a.json": json.dumps(flat).encode()}, {"a.jsonl": _lines(flat * 2)},
        {"a.json.gz": gzip.compress(whole, mtime=0)},
    ]  # fmt: skip


def _prompts() -> list[dict[str, bytes]]:
    csv = b'prompt,choices,label\np,"[""a"", ""b""]",0\nq,"[""c""]",0\n'
    tsv = b"question\tchoice0\tchoice1\tanswer\np\ta\tb\t1\nq\tc\t\t0\n"
    lines = _lines(
        [{"prompt": "p", "choices": ["a", "b"], "label": "b"}, {"prompt": "q", "choices": ["c"], "label": "c"}]
    )
    return [{"a.csv": csv}, {"a.tsv": tsv}, {"a.jsonl": lines}, {"a.json": lines}]


_LABEL_CELLS = (b"1\n2\n-3\n1.5\n", b"a\nb c\n5\n", b'["a", "b"]\n["c"]\n[]\n', b"a|b\nc\nb|a\n")
_RECIPE = (
    b'model = "m"\ntrain = "a.tsv"\nlabels = "a,b"\nepochs = 3\nlearning_rate = 5e-5\nwarmup = 0.1\nunfreeze = true\n'
    b'schedule = "cosine"\nrates = {"layers.-1" = 1e-3, head = 0.1}\nseed = 7\nclass_weights = "a=2,b=1"\n'
)

_DATA = [
    Target("table", _table, _tables),
    Target("conll", _conll, _sentences),
    Target("tagged table", _tagged, _tagged_rows),
    Target("squad", _squad, _questions),
    Target("choices", _choices, _prompts),
    Target("glue", _glue, lambda: [{"train.tsv": b"gj04\t1\t\tA good film.\ngj04\t0\t*\tFilm good.\n"}]),
    Target("plain text", _plain, lambda: [{"a.txt": b"One. Two! Three?\nFour.\n\nFive. Six.\n"}, {"b.gz": gzip.compress(b"A. B.\n")}]),
    Target("labels", _cells, lambda: [{"labels": cells} for cells in _LABEL_CELLS]),
    Target("config.toml", _recipe, lambda: [{"config.toml": _RECIPE}]),
]  # fmt: skip


# Tokenizer files.


@functools.cache
def _wordpiece():
    from kerasbert.text import WordPiece

    return WordPiece(WORDS)


def _tokenizer(folder: Path) -> None:
    from kerasbert.text import tokenizer_from_config, tokenizer_from_folder

    tokenizer = tokenizer_from_folder(folder)
    encoded = tokenizer.encode(TEXTS, max_length=16)
    assert max(map(max, encoded.input_ids)) < tokenizer.vocabulary_size
    assert len(encoded.offsets) == len(TEXTS)
    tokenizer_from_config(json.loads(json.dumps(tokenizer.get_config())))


_VOCABULARY = "".join(f"{word}\n" for word in WORDS).encode()
_CONFIG = {
    "tokenizer_class": "BertTokenizer", "do_lower_case": True, "strip_accents": None, "model_max_length": 512, "unk_token": "[UNK]",
    "added_tokens_decoder": {"0": {"content": "[PAD]", "special": True, "lstrip": False}, str(len(WORDS)): {"content": "<e>"}},
    "additional_special_tokens": ["<e>"],
}  # fmt: skip
_ROLES = ("unk_token", "cls_token", "sep_token", "pad_token", "mask_token")


def _wordpiece_files() -> list[dict[str, bytes]]:
    special = dict(
        zip(_ROLES, ("[UNK]", "[CLS]", "[SEP]", "[PAD]", {"content": "[MASK]", "lstrip": True}), strict=True)
    )
    return [
        {
            "vocab.txt": _VOCABULARY, "tokenizer_config.json": json.dumps(_CONFIG).encode(),
            "special_tokens_map.json": json.dumps(special).encode(),
            "added_tokens.json": json.dumps({"<e>": len(WORDS), "<f>": len(WORDS) + 1}).encode(),
        }
    ]  # fmt: skip


def _template(cls: str, sep: str, second: int) -> dict:
    def part(kind, name, type_id):
        return {kind: {"id": name, "type_id": type_id}}

    pair = [part("SpecialToken", cls, 0), part("Sequence", "A", 0), part("SpecialToken", sep, 0)]
    pair += [part("Sequence", "B", second), part("SpecialToken", sep, second)]
    tokens = {name: {"id": name, "ids": [number], "tokens": [name]} for number, name in ((2, cls), (3, sep))}
    return {"type": "TemplateProcessing", "pair": pair, "single": pair[:3], "special_tokens": tokens}


def _tokenizer_json() -> list[dict[str, bytes]]:
    added = [{"id": number, "content": token, "special": True, "lstrip": False} for number, token in enumerate(SPECIAL)]
    wordpiece = {
        "added_tokens": added, "normalizer": {"type": "BertNormalizer", "lowercase": True, "strip_accents": None, "clean_text": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": _template("[CLS]", "[SEP]", 1), "padding": {"pad_token": "[PAD]"},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                  "vocab": {token: number for number, token in enumerate(WORDS)}},
    }  # fmt: skip
    quotes = [{"type": "Replace", "pattern": {"String": text}, "content": '"'} for text in ("``", "''")]
    steps = [*quotes, {"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"}, _charsmap_step()]
    pieces = [
        ["<pad>", 0],
        ["<unk>", 0],
        ["[CLS]", 0],
        ["[SEP]", 0],
        ["[MASK]", 0],
        ["▁a", -1],
        ["▁good", -2.5],
        ["9,", -3],
    ]
    words = [{"type": "WhitespaceSplit"}, {"type": "Metaspace", "prepend_scheme": "always"}]
    unigram = {
        "added_tokens": [{"id": 0, "content": "<pad>", "special": True}, {"id": 4, "content": "[MASK]", "special": True, "lstrip": True}],
        "normalizer": {"type": "Sequence", "normalizers": steps}, "post_processor": _template("[CLS]", "[SEP]", 1),
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": words},
        "model": {"type": "Unigram", "unk_id": 1, "vocab": pieces},
    }  # fmt: skip
    tokens = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "a", "b", "ab", "Ġ", "Ġa"]
    bpe = {
        "added_tokens": [{"id": 4, "content": "<mask>", "lstrip": True, "special": True}],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False}, "normalizer": None,
        "post_processor": {"type": "RobertaProcessing", "cls": ["<s>", 0], "sep": ["</s>", 2], "trim_offsets": True},
        "model": {"type": "BPE", "vocab": {token: number for number, token in enumerate(tokens)}, "merges": ["a b", ["Ġ", "a"]]},
    }  # fmt: skip
    return [{"tokenizer.json": json.dumps(value).encode()} for value in (wordpiece, unigram, bpe)]


@functools.cache
def _charsmap() -> bytes:
    """Build a compiled character map with SentencePiece's trainer."""
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c", "good film"]), model_writer=model, vocab_size=17, hard_vocab_limit=False, minloglevel=2
    )  # fmt: skip
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(model.getvalue())
    return proto.normalizer_spec.precompiled_charsmap


def _charsmap_step() -> dict:
    import base64

    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(_charsmap()[:4] + _charsmap()[4:]).decode()}


def _sentencepiece() -> list[dict[str, bytes]]:
    from kerasbert.text.sentencepiece_model import build_model

    pieces = [
        ("<pad>", 0.0),
        ("<unk>", 0.0),
        ("[CLS]", 0.0),
        ("[SEP]", 0.0),
        ("[MASK]", 0.0),
        ("▁a", -1.0),
        ("▁good", -2.5),
    ]
    controls = {"[CLS]", "[SEP]", "[MASK]"}
    config = json.dumps({"tokenizer_class": "AlbertTokenizer", "do_lower_case": True, "keep_accents": False}).encode()
    whole = [build_model(pieces, 1, controls, charsmap) for charsmap in (b"", _charsmap())]
    return [{"spiece.model": model, "tokenizer_config.json": config} for model in whole]


def _bpe() -> list[dict[str, bytes]]:
    tokens = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "a", "b", "ab", "Ġ", "Ġa"]
    vocabulary = json.dumps({token: number for number, token in enumerate(tokens)}).encode()
    return [{"vocab.json": vocabulary, "merges.txt": "#version: 0.2\na b\nĠ a\n".encode()}]


_TEXT = [
    Target("vocab.txt", _tokenizer, _wordpiece_files, ("vocab.txt",)),
    Target("tokenizer settings", _tokenizer, _wordpiece_files, ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")),
    Target("tokenizer.json", _tokenizer, _tokenizer_json),
    Target("spiece.model", _tokenizer, _sentencepiece),
    Target("vocab.json, merges.txt", _tokenizer, _bpe),
]  # fmt: skip


# Checkpoints.


def _config(folder: Path) -> None:
    from kerasbert.checkpoints.hugging_face import max_sequence_length, read_config
    from kerasbert.encoders import encoder_class

    config = read_config(folder)
    max_sequence_length(config)
    encoder_class(config["model_type"]).config_class.from_dict(config)


def _described(folder: Path) -> None:
    from kerasbert.cli.outputs.describe_folder import describe_folder

    describe_folder(str(folder))


def _weights(folder: Path) -> None:
    from kerasbert.checkpoints.readers import read_tensors

    for tensor in read_tensors(folder).values():
        np.isfinite(tensor).all()


def _google(folder: Path) -> None:
    from kerasbert.checkpoints.tf1 import read_tensors

    read_tensors(folder, "bert")


_BERT = {
    "model_type": "bert", "architectures": ["BertForSequenceClassification"],
    "vocab_size": len(WORDS), "hidden_size": 8, "num_hidden_layers": 1,
    "num_attention_heads": 2, "intermediate_size": 16, "max_position_embeddings": 16, "type_vocab_size": 2, "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1, "layer_norm_eps": 1e-12, "initializer_range": 0.02, "pad_token_id": 0,
    "id2label": {"0": "bad", "1": "good"}, "label2id": {"bad": 0, "good": 1}, "problem_type": "single_label_classification",
}  # fmt: skip


def _configs() -> list[dict[str, bytes]]:
    albert = {**_BERT, "model_type": "albert", "embedding_size": 4, "num_hidden_groups": 1, "inner_group_num": 1}
    mobile = {
        **_BERT, "model_type": "mobilebert", "embedding_size": 4, "intra_bottleneck_size": 4, "use_bottleneck": True, "trigram_input": True,
        "key_query_shared_bottleneck": True, "num_feedforward_networks": 2, "normalization_type": "no_norm", "classifier_activation": False,
    }  # fmt: skip
    distil = {
        "model_type": "distilbert", "vocab_size": 20, "dim": 8, "n_layers": 1, "n_heads": 2, "hidden_dim": 16, "activation": "gelu",
        "dropout": 0.1, "attention_dropout": 0.1, "max_position_embeddings": 16, "sinusoidal_pos_embds": False,
    }  # fmt: skip
    others = [
        {**_BERT, "model_type": "electra", "embedding_size": 4},
        {**_BERT, "model_type": "roberta", "pad_token_id": 1},
    ]
    google = {
        name: value
        for name, value in _BERT.items()
        if name not in ("model_type", "architectures", "id2label", "label2id")
    }
    files = [{"config.json": json.dumps(value).encode()} for value in (_BERT, albert, mobile, distil, *others)]
    return [*files, {"bert_config.json": json.dumps(google).encode()}]


def _tensors() -> dict[str, np.ndarray]:
    return {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(2, np.float16), "n": np.arange(3)}


def _safetensors() -> list[dict[str, bytes]]:
    import safetensors.numpy

    return [{"model.safetensors": safetensors.numpy.save(_tensors(), {"format": "pt"})}]


def _shards() -> list[dict[str, bytes]]:
    import safetensors.numpy

    parts = {"m-1.safetensors": {"a": _tensors()["a"]}, "m-2.safetensors": {"b": _tensors()["b"]}}
    index = {"metadata": {"total_size": 28}, "weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors"}}
    files = {name: safetensors.numpy.save(tensors) for name, tensors in parts.items()}
    return [{"model.safetensors.index.json": json.dumps(index).encode(), **files}]


def _torch_description(legacy: bool) -> bytes:
    """Build the pickle of torch.save for `{"a": 2 x 3 float32, "b": 2 float16}`, instruction by instruction."""

    def text(value: str) -> bytes:
        return b"X" + len(value).to_bytes(4, "little") + value.encode()

    def tensor(key: str, kind: str, count: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> bytes:
        def numbers(values):
            return b"(" + b"".join(b"K" + bytes([value]) for value in values) + b"t"

        storage = (
            b"(" + text("storage") + f"ctorch\n{kind}\n".encode() + text(key) + text("cpu") + b"K" + bytes([count])
        )
        storage += (b"N" if legacy else b"") + b"tQ"
        hooks = b"ccollections\nOrderedDict\n)R"
        arguments = b"(" + storage + b"K\0" + numbers(shape) + numbers(strides) + b"\x89" + hooks + b"t"
        return b"ctorch._utils\n_rebuild_tensor_v2\n" + arguments + b"R"

    entries = (
        text("a")
        + tensor("0", "FloatStorage", 6, (2, 3), (3, 1))
        + text("b")
        + tensor("1", "HalfStorage", 2, (2,), (1,))
    )
    return b"\x80\x02}q\x00(" + entries + b"u."


def _torch_zip() -> list[dict[str, bytes]]:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("m/data.pkl", _torch_description(False))
        archive.writestr("m/byteorder", "little")
        archive.writestr("m/data/0", np.arange(6, dtype="<f4").tobytes())
        archive.writestr("m/data/1", np.ones(2, "<f2").tobytes())
    return [{"pytorch_model.bin": stream.getvalue()}]


def _torch_legacy() -> list[dict[str, bytes]]:
    system = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 8}}
    start = b"".join(pickle.dumps(value, 2) for value in (0x1950A86A20F9469CFC6C, 1001, system))
    keys = pickle.dumps(["0", "1"], 2)
    data = (
        (6).to_bytes(8, "little")
        + np.arange(6, dtype="<f4").tobytes()
        + (2).to_bytes(8, "little")
        + np.ones(2, "<f2").tobytes()
    )
    return [{"pytorch_model.bin": start + _torch_description(True) + keys + data}]


@functools.cache
def _tf1() -> list[dict[str, bytes]]:
    import tempfile

    import tensorflow as tf

    names = {"bert/embeddings/word_embeddings": (4, 2), "bert/pooler/dense/kernel": (2, 2), "global_step": ()}
    with tempfile.TemporaryDirectory() as folder:
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            for name, shape in names.items():
                tf.compat.v1.get_variable(name, initializer=np.ones(shape, np.float32))
            session.run(tf.compat.v1.global_variables_initializer())
            tf.compat.v1.train.Saver().save(session, f"{folder}/bert_model.ckpt", write_meta_graph=False)
        files = {path.name: path.read_bytes() for path in Path(folder).glob("bert_model.ckpt.*")}
    return [files]


def _preset(folder: Path) -> None:
    from kerasbert.checkpoints.keras_nlp import from_keras_nlp

    from_keras_nlp(str(folder))


@functools.cache
def _presets() -> list[dict[str, bytes]]:
    import tempfile

    import keras_nlp

    sizes = {"num_layers": 1, "num_heads": 2, "hidden_dim": 4, "intermediate_dim": 4, "max_sequence_length": 4}
    backbone = keras_nlp.models.BertBackbone(vocabulary_size=5, **sizes)
    with tempfile.TemporaryDirectory() as folder:
        backbone.save_to_preset(folder)
        return [{path.name: path.read_bytes() for path in Path(folder).iterdir()}]


_CHECKPOINTS = [
    Target("config.json", _config, _configs),
    Target("safetensors", _weights, _safetensors),
    Target("safetensors index", _weights, _shards, ("model.safetensors.index.json",)),
    Target("PyTorch zip", _weights, _torch_zip),
    Target("PyTorch legacy", _weights, _torch_legacy),
    Target("TensorFlow 1 checkpoint", _google, _tf1),
    Target("keras-nlp preset", _preset, _presets, slow=True),
]


# Files that kerasbert writes.


def _npz(folder: Path) -> None:
    from kerasbert.export.validation.reference import npz_reference

    reference = npz_reference(folder / "a.npz")
    inputs = reference.data.x
    reference.outputs(inputs, np.arange(len(inputs["input_ids"])))


def _npzs() -> list[dict[str, bytes]]:
    ids = np.arange(12, dtype=np.int32).reshape(3, 4)
    arrays = {"input_ids": ids, "attention_mask": np.ones_like(ids), "probabilities": np.full((3, 2), 0.5, np.float32)}
    seeds = []
    for save in (np.savez, np.savez_compressed):
        stream = io.BytesIO()
        save(stream, **arrays, labels=np.array(["a", "b", "a"]))
        seeds.append({"a.npz": stream.getvalue()})
    return seeds


_QUANTIZATION = {"recipe": "dynamic_wi8_afp32", "rules": []}
_OWN_METADATA = {
    "format": 1, "task": "TextClassifier", "encoder": {},
    "settings": {"labels": ["bad", "good"], "sequence_length": 16, "problem": "single_label"},
}  # fmt: skip


def _own_files() -> list[dict[str, bytes]]:
    return [
        {
            "kerasbert.json": json.dumps(_OWN_METADATA).encode(),
            "config.json": json.dumps(_BERT).encode(),
            **_safetensors()[0],
        }
    ]


def _model(folder: Path) -> None:
    import kerasbert

    kerasbert.load_task(folder).predict(["good film"])


@functools.cache
def _models() -> list[dict[str, bytes]]:
    import tempfile

    from kerasbert.encoders import BertConfig, BertEncoder
    from kerasbert.tasks import TextClassifier

    encoder = BertEncoder(BertConfig.from_dict(_BERT))
    with tempfile.TemporaryDirectory() as folder:
        TextClassifier(encoder, _wordpiece(), labels=("bad", "good"), sequence_length=16).save_pretrained(f"{folder}/m")
        return [{path.name: path.read_bytes() for path in Path(folder, "m").iterdir()}]


@functools.cache
def _sentence_encoders() -> list[dict[str, bytes]]:
    import tempfile

    from kerasbert.encoders import BertConfig, BertEncoder
    from kerasbert.tasks import SentenceEncoder

    encoder = BertEncoder(BertConfig.from_dict(_BERT))
    with tempfile.TemporaryDirectory() as folder:
        SentenceEncoder(encoder, _wordpiece(), sequence_length=16).save_pretrained(f"{folder}/m")
        paths = sorted(path for path in Path(folder, "m").rglob("*") if path.is_file())
        whole = {path.relative_to(Path(folder, "m")).as_posix(): path.read_bytes() for path in paths}
    return [whole, {name: data for name, data in whole.items() if name != "kerasbert.json"}]


def _run_folder(folder: Path) -> None:
    from kerasbert.training.run_folder import RunFolder

    run = RunFolder(folder)
    run.path.mkdir(exist_ok=True)
    for name in ("metrics.jsonl", "command.json"):
        (run.path / name).write_bytes((folder / name).read_bytes())
    run.state.touch()
    run.records()
    run.rewind(2)
    run.read_command()


def _state(folder: Path) -> None:
    from kerasbert.checkpoints.safetensors_file import read_file
    from kerasbert.training.checked_tensors import write_checked
    from kerasbert.training.state import read_state

    write_checked(
        folder / "state.safetensors", read_file(folder / "state.safetensors")
    )  # the checksum would refuse all
    read_state(folder / "state.safetensors")


def _states() -> list[dict[str, bytes]]:
    import safetensors.numpy

    state = np.frombuffer(json.dumps({"step": 3, "epoch": 1, "best": 0.5}).encode(), np.uint8)
    return [{"state.safetensors": safetensors.numpy.save({**_tensors(), "position": state}, {"format": "pt"})}]


def _metadata(folder: Path) -> None:
    from kerasbert.export.tflite import metadata

    description = metadata.read(folder / "a.tflite")
    if description is not None:
        from kerasbert.export.tflite.metadata import tokenizer_of

        tokenizer_of(description).encode(TEXTS, max_length=16)


def _metadata_files() -> list[dict[str, bytes]]:
    from kerasbert.export.tflite.metadata import Metadata, append
    from kerasbert.processors.classification import SingleLabel

    settings = {name: value for name, value in _wordpiece().get_config().items() if name != "vocabulary"}
    description = Metadata(
        task="TextClassifier", processor=SingleLabel(("bad", "good")), sequence_length=16, recipe="float", target="cpu",
        parameters=100, weights="",
        vocab_size=len(WORDS), tokenizer=settings, signature="serve", kerasbert="0.1.0", vocabulary=WORDS,
    )  # fmt: skip
    return [{"a.tflite": append(b"\x1c\0\0\0TFL3" + bytes(100), description)}]


_METRICS = _lines(
    [{"step": 1, "loss": 0.5}, {"step": 2, "loss": float("nan"), "dev": {"accuracy": 0.5}}, {"step": 3, "loss": 0.1}]
)


def _index(folder: Path) -> None:
    """Read an index as it is, and with checksums that fit the damaged content, so that what stands behind them is tried too."""
    path = folder / "a.kbindex"
    content = path.read_bytes()

    def use() -> None:
        from kerasbert.retrieval.index_file import read_index, write_index

        info, projection, rows = read_index(path)
        texts = [(rows.text(row), rows.names[rows.documents[row]], rows.starts[row]) for row in range(len(rows))]
        assert len(texts) == len(rows.vectors.values)
        if len(rows):
            rows.vectors.search(rows.vectors, 3)
        write_index(folder / "again.kbindex", info, projection, rows)

    def use_repaired() -> None:
        path.write_bytes(_with_checksums(content))
        use()

    _try_all(use_repaired, use)


def _with_checksums(content: bytes) -> bytes:
    """An index with the checksum that each section's content has."""
    repaired, place = bytearray(content), 8
    while place + 16 <= len(content):
        length = int.from_bytes(content[place + 8 : place + 16], "little")
        section = content[place + 16 : place + 16 + length]
        if len(section) < length:
            break
        repaired[place + 4 : place + 8] = zlib.crc32(section).to_bytes(4, "little")
        place += 16 + length + -length % 8
    return bytes(repaired)


def _indexes() -> list[dict[str, bytes]]:
    from kerasbert.retrieval.index_file import IndexInfo, write_index
    from kerasbert.retrieval.rows import Rows
    from kerasbert.retrieval.stored_vectors import BIT, INT8, StoredVectors

    draw, made = np.random.default_rng(0), []
    for form, projected in ((INT8, False), (BIT, False), (INT8, True)):
        info = IndexInfo("vectors of x", "search", 12 if projected else 8, 8, form, 128, 16)
        vectors = StoredVectors.of(draw.normal(size=(3, 8)).astype(np.float32), form)
        rows = Rows.of(vectors, ["film", "é good", "東 x"], [0, 0, 1], [0, 4, 0], ["a.txt", "b"], [1, 2])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.kbindex"
            write_index(path, info, draw.normal(size=(12, 8)) if projected else None, rows)
            made.append({"a.kbindex": path.read_bytes()})
    return made


_OWN = [
    Target(".npz", _npz, _npzs),
    Target("kerasbert.json", _described, _own_files, ("kerasbert.json", "config.json")),
    Target("model folder", _model, _models, slow=True),
    Target("sentence encoder folder", _model, _sentence_encoders, slow=True),
    Target("run folder", _run_folder, lambda: [{"metrics.jsonl": _METRICS, "command.json": b'{"model": "m", "epochs": 3}'}]),
    Target("run state", _state, _states),
    Target("metadata of a .tflite", _metadata, _metadata_files),
    Target(".kbindex", _index, _indexes),
]  # fmt: skip


def _try_all(*uses: Callable[[], object]) -> None:
    """Run all uses; raises the first error if every use fails."""
    from kerasbert.errors import KerasBertError

    refused = []
    for use in uses:
        try:
            use()
        except KerasBertError as error:
            str(error).encode("utf-8")
            refused.append(error)
    if len(refused) == len(uses):
        raise refused[0]


def files_of(target: Target, seed: Mapping[str, bytes]) -> list[str]:
    """List the files of a valid input that may be damaged."""
    return [name for name in seed if not target.damaged or name in target.damaged]
