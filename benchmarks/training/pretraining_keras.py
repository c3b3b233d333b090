"""The Keras side of `pretraining_throughput` and `pretraining_steps`: one `fit` of a `Pretrainer` that pauses after some steps."""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.common.interleaved import Parent
from benchmarks.training.training_keras import pause_callback


def main() -> None:
    """Train, one segment per message of the parent."""
    arguments = _arguments()
    parent = Parent()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import kerasbert as kb

    kb.keep_memory()
    import tf_keras as keras

    from kerasbert.processors.pretraining_batches import Batch, PretrainingBatches

    if arguments.precision == "bfloat16":
        keras.mixed_precision.set_global_policy("mixed_bfloat16")
    rows = np.load(arguments.folder / "rows.npz")
    labels, inputs = rows["labels"], {name: rows[name] for name in rows.files if name != "labels"}
    model = kb.Pretrainer.from_pretrained(
        arguments.folder / "model", objectives=["masked-lm"], sequence_length=labels.shape[-1]
    )
    output = model.processor.outputs[0]

    class KeptBatches(PretrainingBatches):
        """The batches of the file, again and again."""

        def batches(self, first: int = 0) -> Iterator[Batch]:
            number = first
            while True:
                step = number % len(labels)
                yield Batch({name: value[step] for name, value in inputs.items()}, {output: labels[step]})
                number += 1

    batches = KeptBatches(
        kb.data.TextStream(__file__), model.processor, model.tokenizer, labels.shape[-1], labels.shape[1], steps=100_000
    )
    model.compile(kb.adamw(arguments.rate, warmup=0.06, steps=arguments.steps), jit_compile=arguments.jit)
    parent.send(rows=int(labels.shape[1]))
    one_step = keras.callbacks.LambdaCallback(on_train_batch_begin=lambda *_: model.reset_metrics())
    model.fit(
        batches, verbose=0, callbacks=[*([one_step] if arguments.step_losses else []), pause_callback(keras, parent)]
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--precision", required=True)
    parser.add_argument("--jit", action="store_true")
    parser.add_argument("--rate", type=float, default=5e-4)
    parser.add_argument("--steps", type=int, default=100_000, help="of the schedule")
    parser.add_argument("--step-losses", action="store_true", help="answer with the loss of the last step")
    return parser.parse_args()


if __name__ == "__main__":
    main()
