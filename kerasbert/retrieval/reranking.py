"""The order of search results that a model of pairs has scored too."""

import numpy as np


def combined_order(cosines: list[float], scores: list[float], weight: float) -> list[int]:
    """Order candidates by the weighted mean of two kinds of scores, each standardized over the candidates.

    Cosines and the scores of a model of pairs have other ranges, and those differ from model to model. Their standard scores do not.

    Args:
        cosines: The similarity of each candidate to the query.
        scores: The score of each by a model of pairs.
        weight: The weight of `scores`, from 0 to 1.

    Returns:
        The places of the candidates, the best first; equal ones in the order in which they came.
    """
    mean = weight * _standardized(scores) + (1 - weight) * _standardized(cosines)
    return np.argsort(-mean, kind="stable").tolist()


def _standardized(values: list[float]) -> np.ndarray:
    array = np.asarray(values, np.float64)
    deviation = array.std() if len(array) else 0.0
    return (array - array.mean()) / deviation if deviation > 0 else np.zeros_like(array)
