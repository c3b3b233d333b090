"""Passes a SavedModel to TFLite's converter without loading its weights into Python."""

from pathlib import Path
from typing import Any

import tensorflow as tf


def saved_model_converter(folder: Path, signature: str) -> Any:
    """Create a converter for one signature, as `tf.lite.TFLiteConverter.from_saved_model` does, with less work for the same file.

    TensorFlow loads the whole model twice: to check that the signature exists, and for the stack traces of its messages. The conversion of
    the folder needs neither. The loads took about a third of a small model's conversion time, and a copy of the weights. Other builds of
    TensorFlow lack the class that is used here; they get TensorFlow's own converter.
    """
    from tensorflow.lite.python import lite

    base: Any = getattr(lite, "TFLiteSavedModelConverterV2", None)
    if not all(hasattr(base, name) for name in ("_load_saved_model", "_convert_from_saved_model")):
        return tf.lite.TFLiteConverter.from_saved_model(str(folder), signature_keys=[signature])

    def convert(converter: Any) -> bytes:
        graph, *_ = converter._load_saved_model(converter.saved_model_dir, converter._saved_model_tags)
        return converter._convert_from_saved_model(graph)

    converter_class = type("SavedModelConverter", (base,), {"convert": convert})
    return converter_class(str(folder), {tf.saved_model.SERVING}, [signature])
