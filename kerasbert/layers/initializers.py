"""How new weights start."""

import tf_keras as keras


def normal(config) -> keras.initializers.Initializer:
    """BERT's truncated normal. A new one for every variable: one instance, called twice, gives the same values twice."""
    return keras.initializers.TruncatedNormal(stddev=config.initializer_range)
