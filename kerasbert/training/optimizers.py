"""AdamW as BERT is fine-tuned with it."""

import tensorflow as tf
import tf_keras as keras


@keras.utils.register_keras_serializable("kerasbert")
class WarmupLinearDecay(keras.optimizers.schedules.LearningRateSchedule):
    """Up from 0 over `warmup_steps`, then linearly down to 0 at `steps` (Devlin et al. 2018, appendix A)."""

    def __init__(self, peak: float, warmup_steps: int, steps: int):
        self.peak, self.warmup_steps, self.steps = float(peak), int(warmup_steps), int(steps)

    def __call__(self, step):
        step = tf.cast(step, tf.float32) + 1.0
        up = step / max(self.warmup_steps, 1)
        down = (self.steps + 1 - step) / max(self.steps - self.warmup_steps, 1)
        return self.peak * tf.maximum(tf.minimum(tf.minimum(up, down), 1.0), 0.0)

    def get_config(self):
        return {"peak": self.peak, "warmup_steps": self.warmup_steps, "steps": self.steps}


@keras.utils.register_keras_serializable("kerasbert")
class FusedAdamW(keras.optimizers.AdamW):
    """Keras' AdamW with each variable updated in one pass by TensorFlow's fused Adam kernel.

    A small BERT on short texts spends more time in its optimizer than in its layers: the word table has half of the parameters and
    every one is updated at every step. The kernel is the same formula (Kingma & Ba 2015, with epsilon outside the bias correction).
    """

    def __init__(self, learning_rate=0.001, *, exclude: tuple[str, ...] = (), **kwargs):
        super().__init__(learning_rate, **kwargs)
        self.exclude = tuple(exclude)
        self.exclude_from_weight_decay(var_names=list(self.exclude))

    def get_config(self):
        return {**super().get_config(), "exclude": list(self.exclude)}

    def update_step(self, gradient, variable):
        index = self._index_dict[self._var_key(variable)]
        momentum, velocity = self._momentums[index], self._velocities[index]
        step = tf.cast(self.iterations + 1, variable.dtype)
        beta_1, beta_2 = (tf.cast(beta, variable.dtype) for beta in (self.beta_1, self.beta_2))
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle, m=momentum.handle, v=velocity.handle, beta1_power=tf.pow(beta_1, step), beta2_power=tf.pow(beta_2, step),
            lr=tf.cast(self.learning_rate, variable.dtype), beta1=beta_1, beta2=beta_2, epsilon=tf.cast(self.epsilon, variable.dtype),
            grad=tf.convert_to_tensor(gradient),
        )  # fmt: skip


def adamw(
    learning_rate: float,
    warmup: float = 0.1,
    steps: int | None = None,
    weight_decay: float = 0.01,
    clip_norm: float = 1.0,
):
    """AdamW (Loshchilov & Hutter 2019) with BERT's settings: warm-up over a share of `steps`, linear decay to 0, gradients clipped to a
    global norm, no weight decay on biases and norms. Without `steps` the rate stays constant.
    """
    if steps:
        learning_rate = WarmupLinearDecay(learning_rate, round(warmup * steps), steps)
    return FusedAdamW(
        learning_rate,
        weight_decay=weight_decay,
        epsilon=1e-8,
        global_clipnorm=clip_norm,
        exclude=("bias", "gamma", "beta"),
    )
