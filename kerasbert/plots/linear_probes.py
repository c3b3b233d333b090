"""Linear probes: one linear layer from the hidden states of each layer to the labels, trained for all layers and seeds at once."""

from collections.abc import Callable

import numpy as np

_BATCH, _LARGE_BATCH, _LARGE = 64, 512, 20_000  # rows
_EPOCHS, _LEAST_STEPS = 20, 600
_RATE, _DECAY = 1e-2, 1e-3
_FIRST, _SECOND, _EPSILON = 0.9, 0.999, 1e-8  # of Adam

Report = Callable[[int, int], None]


class LinearProbes:
    """Probes of every layer, with several seeds each.

    A seed draws the first weights and the order of the rows. The states of each layer are scaled by their mean and deviation. The weights
    are trained by Adam with a rate that falls to 0, and with weight decay.

    Args:
        loss: `softmax`, `sigmoid` or `squared_error`.
        outputs: Numbers that a probe returns.
        seeds: Number of seeds.
        epochs: Passes over the rows; None for 20, and for more where these are fewer than 600 steps.
    """

    def __init__(self, loss: str, outputs: int, seeds: int, epochs: int | None = None):
        self.loss, self.outputs, self.seeds, self.epochs = loss, outputs, seeds, epochs

    def fit(self, states: np.ndarray, targets: np.ndarray, report: Report | None = None) -> None:
        """Train the probes.

        Args:
            states: The states of each row, float32 `(rows, layers, hidden)`.
            targets: Class numbers `(rows,)` for `softmax`, else numbers `(rows, outputs)`.
            report: Called with the number of finished steps and of all steps.
        """
        rows, layers, width = states.shape
        self.mean = states.mean(axis=0)
        self.scale = 1 / np.maximum(states.std(axis=0), 1e-6)
        wanted = (
            np.eye(self.outputs, dtype=np.float32)[targets] if self.loss == "softmax" else targets.astype(np.float32)
        )
        draws = [np.random.default_rng((seed, 1)) for seed in range(self.seeds)]
        kernels = [draw.normal(0, 0.02, (layers, width, self.outputs)) for draw in draws]
        weights = [np.stack(kernels).astype(np.float32), np.zeros((self.seeds, layers, 1, self.outputs), np.float32)]
        moments = [(np.zeros_like(each), np.zeros_like(each)) for each in weights]
        batch = min(_LARGE_BATCH if rows > _LARGE else _BATCH, rows)
        in_epoch = rows // batch
        steps = in_epoch * (self.epochs or max(_EPOCHS, -(-_LEAST_STEPS // in_epoch)))
        for step in range(steps):
            place = step % in_epoch
            if not place:
                orders = np.stack([draw.permutation(rows) for draw in draws])
            index = orders[:, place * batch : (place + 1) * batch]
            inputs = self._scaled(states[index])  # (seeds, layers, batch, hidden)
            error = (self._answers(inputs @ weights[0] + weights[1]) - wanted[index][:, None]) / batch
            gradients = [inputs.transpose(0, 1, 3, 2) @ error + _DECAY * weights[0], error.sum(axis=2, keepdims=True)]
            _adam(weights, gradients, moments, step + 1, _RATE * (1 - step / steps))
            if report is not None:
                report(step + 1, steps)
        self.kernel, self.bias = weights

    def predict(self, states: np.ndarray) -> np.ndarray:
        """Return the answers of all probes: probabilities, or numbers for `squared_error`.

        Args:
            states: The states of some rows, float32 `(rows, layers, hidden)`.

        Returns:
            float32 `(seeds, layers, rows, outputs)`.
        """
        return self._answers(self._scaled(states[None]) @ self.kernel + self.bias)

    def _scaled(self, states: np.ndarray) -> np.ndarray:
        """Scale states `(..., rows, layers, hidden)`, and return them as `(..., layers, rows, hidden)`."""
        return np.swapaxes((states - self.mean) * self.scale, -2, -3)

    def _answers(self, logits: np.ndarray) -> np.ndarray:
        if self.loss == "squared_error":
            return logits
        if self.loss == "sigmoid":
            return 1 / (1 + np.exp(-np.clip(logits, -60, 60)))
        powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)


def _adam(
    weights: list[np.ndarray], gradients: list[np.ndarray], moments: list[tuple[np.ndarray, np.ndarray]], step: int, rate: float
) -> None:  # fmt: skip
    for each, gradient, (first, second) in zip(weights, gradients, moments, strict=True):
        first += (1 - _FIRST) * (gradient - first)
        second += (1 - _SECOND) * (gradient**2 - second)
        each -= rate * (first / (1 - _FIRST**step)) / (np.sqrt(second / (1 - _SECOND**step)) + _EPSILON)
