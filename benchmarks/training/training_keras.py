"""The Keras side of `benchmarks.training.training_throughput`: one `fit` of a `TextClassifier` that pauses after each segment of steps."""

import argparse
import os
import time

import numpy as np

from benchmarks.common.interleaved import Parent
from benchmarks.common.training_data import read_rows


def main() -> None:
    """Train, one segment per message of the parent."""
    arguments = _arguments()
    parent = Parent()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import kerasbert as kb

    if not arguments.return_memory:  # the command line does this too
        kb.keep_memory()
    import tf_keras as keras

    keras.utils.set_random_seed(arguments.seed)
    texts, labels = read_rows(arguments.train, arguments.case, arguments.length, arguments.rows)
    model = kb.TextClassifier.from_pretrained(arguments.checkpoint, labels=["0", "1"], sequence_length=arguments.length)
    model.compile(kb.adamw(5e-5, warmup=0.06, steps=len(texts) // arguments.batch), jit_compile=arguments.jit)
    start = time.perf_counter()
    lengths = np.array([len(row) for row in model.encode(texts).input_ids])
    tokenizing = time.perf_counter() - start
    compiling = _warm_up(model, texts, labels, lengths, arguments.batch)
    pause = pause_callback(keras, parent)
    parent.send(tokens=int(lengths.sum()), rows=len(texts), tokenize_seconds=tokenizing, **compiling)
    model.fit(texts, labels, batch_size=arguments.batch, seed=arguments.seed, verbose=0, callbacks=[pause])


def _warm_up(model, texts: list[str], labels: np.ndarray, lengths: np.ndarray, batch: int) -> dict:
    """Train on every padded length several times; the extra time of the first pass is tracing and compilation."""
    from kerasbert.data.batching import padded_length
    from kerasbert.tasks.inputs import few_lengths

    limit, few = model.sequence_length, few_lengths(model)
    padded = np.array([padded_length(int(length), limit, few=few) for length in lengths])
    chosen = np.concatenate([np.resize(np.flatnonzero(padded == length), batch) for length in np.unique(padded)])
    texts, labels = [texts[i] for i in chosen], labels[chosen]
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        model.fit(texts, labels, batch_size=batch, verbose=0)
        seconds.append(time.perf_counter() - start)
    return {
        "compile_seconds": seconds[0] - min(seconds[1:]),
        "padded_lengths": [int(length) for length in np.unique(padded)],
    }


def pause_callback(keras, parent: Parent):
    class Pause(keras.callbacks.Callback):
        """Waits for `{"steps": n}` before a segment; answers with its time, and the loss since metrics were reset."""

        _supports_tf_logs = True

        def on_train_begin(self, logs=None):
            self._wait()

        def on_train_batch_end(self, batch, logs=None):
            self._left -= 1
            if not self._left:
                self.model.optimizer.iterations.numpy()
                seconds, processor = time.perf_counter() - self._start, time.process_time() - self._processor
                parent.send(seconds=seconds, processor_seconds=processor, loss=float(logs["loss"]))
                self._wait()

        def _wait(self):
            message = parent.receive()
            if message is None:
                self.model.stop_training = True
                return
            self._left = message["steps"]
            self._start, self._processor = time.perf_counter(), time.process_time()

    return Pause()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint")
    parser.add_argument("--train", required=True)
    parser.add_argument("--case", required=True)
    parser.add_argument("--length", type=int, required=True)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--jit", action="store_true")
    parser.add_argument("--return-memory", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
