"""A SavedModel to TFLite's converter, without loading its weights into Python."""

from pathlib import Path

import tensorflow as tf


def saved_model_converter(folder: Path, signature: str):
    """`tf.lite.TFLiteConverter.from_saved_model` of one signature, with less work for the same file.

    TensorFlow's loads the whole model twice, weights, functions and all: once to see that the signature is there, and once for the
    stack traces of its messages. It then converts the folder, which neither is needed for. That was about a third of the time of a small
    model's conversion, and a copy of the weights in memory. Where TensorFlow is built otherwise, this is TensorFlow's own.
    """
    from tensorflow.lite.python import lite

    base = getattr(lite, "TFLiteSavedModelConverterV2", None)
    if not all(hasattr(base, name) for name in ("_load_saved_model", "_convert_from_saved_model")):
        return tf.lite.TFLiteConverter.from_saved_model(str(folder), signature_keys=[signature])

    class Converter(base):
        def convert(self):
            graph, *_ = self._load_saved_model(self.saved_model_dir, self._saved_model_tags)
            return self._convert_from_saved_model(graph)

    return Converter(str(folder), {tf.saved_model.SERVING}, [signature])
