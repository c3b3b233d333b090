"""A training that ends in the middle, as a killed one does."""

import tf_keras as keras


class Killed(Exception):
    pass


class KillAfter(keras.callbacks.Callback):
    """Raises before other callbacks see the batch, as a kill would."""

    def __init__(self, steps: int):
        super().__init__()
        self.left = steps

    def on_train_batch_end(self, batch, logs=None):
        self.left -= 1
        if self.left == 0:
            raise Killed
