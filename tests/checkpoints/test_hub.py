import errno
import logging
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import huggingface_hub
import pytest
from huggingface_hub import errors

from kerasbert.checkpoints import hub
from kerasbert.errors import KerasBertError


def http(kind, status):
    return kind("refused\nfor a long reason", response=SimpleNamespace(headers={}, request=None, status_code=status))


class Hub:
    """A fake hub that raises a configured error or returns a folder."""

    def __init__(self, monkeypatch, folder):
        self.folder, self.cached = folder, False
        self.info_error = self.download_error = None
        self.downloads = []
        monkeypatch.setattr(huggingface_hub.HfApi, "model_info", self.model_info)
        monkeypatch.setattr(huggingface_hub, "snapshot_download", self.snapshot_download)

    def model_info(self, repo_id, *, revision, timeout):
        assert timeout <= 5
        if self.info_error:
            raise self.info_error

    def snapshot_download(self, repo_id, *, local_files_only=False, **options):
        self.downloads.append((repo_id, local_files_only, options))
        if local_files_only and not self.cached:
            raise errors.LocalEntryNotFoundError("not in the cache")
        if self.download_error:
            raise self.download_error
        return str(self.folder)


@pytest.fixture
def fake(monkeypatch, tmp_path):
    (tmp_path / "model.safetensors").touch()
    return Hub(monkeypatch, tmp_path)


def complaint(*request):
    with pytest.raises(KerasBertError) as caught:
        hub.download(*request)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_only_supported_files_are_downloaded(fake, tmp_path):
    assert hub.download("org/name", "v1") == tmp_path
    [(repo_id, local, options)] = fake.downloads
    assert (repo_id, local, options["revision"]) == ("org/name", False, "v1")
    names = [
        *("config.json", "model.safetensors", "model-00001-of-00002.safetensors", "model.safetensors.index.json"),
        *("vocab.txt", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "modules.json"),
        *("1_Pooling/config.json", "kerasbert.json", "quantization.safetensors"),
        *("2_Dense/config.json", "2_Dense/model.safetensors", "2_Dense/pytorch_model.bin", "pooling/config.json"),
        *("config_sentence_transformers.json", "sentence_bert_config.json", "0_Transformer/vocab.txt"),
    ]
    others = ["pytorch_model.bin", "onnx/model.onnx", "onnx/model.safetensors", "tf_model.h5", "README.md", "x.py"]
    others += ["openvino/pytorch_model.bin", "onnx/config.json", "1_Pooling/notes.txt", "other/model.safetensors"]
    patterns = {name: options[name] for name in ("allow_patterns", "ignore_patterns")}
    assert list(huggingface_hub.utils.filter_repo_objects([*names, *others], **patterns)) == names


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (http(errors.GatedRepoError, 403), "gated"),
        (http(errors.RepositoryNotFoundError, 404), "does not exist or is private"),
        (http(errors.RevisionNotFoundError, 404), "no such revision"),
        (http(errors.DisabledRepoError, 403), "disabled"),
        (http(errors.HfHubHTTPError, 503), "HTTP status 503"),
        (errors.HFValidationError("bad\nname"), "not a hub name"),
        (errors.OfflineModeIsEnabled("offline"), "HF_HUB_OFFLINE is set"),
        (ConnectionError("no route\nto host"), "cannot be reached (ConnectionError: no route to host)"),
        (TimeoutError(), "cannot be reached (TimeoutError"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_each_cause_has_a_one_line_error(fake, error, words):
    fake.info_error = error
    text = complaint("org/name", "v1")
    assert words in text and "'org/name' at revision 'v1'" in text
    assert "or download the folder elsewhere and pass its path" in text


def test_weights_in_the_encoder_folder_of_old_sentence_transformers(fake, tmp_path):
    (tmp_path / "model.safetensors").unlink()
    (tmp_path / "0_Transformer").mkdir()
    (tmp_path / "0_Transformer" / "pytorch_model.bin").touch()
    assert hub.download("org/name") == tmp_path
    assert [options["allow_patterns"][-2] for _, _, options in fake.downloads] == [
        "*.safetensors",
        "pytorch_model*.bin",
    ]


def test_name_without_organization_is_sent_unchanged(fake, tmp_path):
    """The hub redirects its oldest names, such as bert-base-uncased to google-bert/bert-base-uncased."""
    assert hub.download("bert-base-uncased") == tmp_path
    assert fake.downloads[0][0] == "bert-base-uncased"
    fake.info_error = http(errors.RepositoryNotFoundError, 404)
    assert "received 'bert-base-uncasd': there is no such folder here, and the hub" in complaint("bert-base-uncasd")


def test_download_errors(fake):
    fake.download_error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    text = complaint("org/name")
    assert "No space left" in text and "check the disk" in text and "revision" not in text


def test_cache_is_used_without_the_hub(fake, tmp_path):
    fake.info_error, fake.cached = ConnectionError("down"), True
    assert hub.download("org/name") == tmp_path
    assert [local for _, local, _ in fake.downloads] == [True]


def test_model_without_supported_weights(fake, tmp_path):
    (tmp_path / "model.safetensors").unlink()
    text = complaint("org/name")
    assert ".safetensors" in text and "convert" in text


def test_keyboard_interrupt_passes_through(fake):
    fake.info_error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        hub.download("org/name")


def test_hub_logger_is_quiet_during_the_download_only(fake, monkeypatch):
    logger, levels = logging.getLogger("huggingface_hub"), []
    monkeypatch.setattr(logger, "level", logging.INFO)
    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", lambda *_, **__: levels.append(logger.level))
    hub.download("org/name")
    assert levels == [logging.ERROR] and logger.level == logging.INFO


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"HF_HUB_OFFLINE": "1"}, "HF_HUB_OFFLINE is set"),
        ({"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HUB_OFFLINE": "0"}, "the hub cannot be reached"),
    ],
    ids=["offline", "unreachable"],
)
def test_unreachable_hub_fails_fast_and_silently(tmp_path, settings, words):
    """Runs in a subprocess, because huggingface-hub reads its settings once."""
    code = (
        "from kerasbert.checkpoints.hub import download\n"
        "try: download('org/name')\n"
        "except ValueError as error: print(error)"
    )
    environment = {**os.environ, "HF_HOME": str(tmp_path), "NO_PROXY": "127.0.0.1", **settings}
    start = time.monotonic()
    process = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert time.monotonic() - start < 10
    assert process.stderr == "" and process.returncode == 0
    [line] = process.stdout.splitlines()
    assert words in line and "pass its path" in line
