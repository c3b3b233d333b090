"""A build of the smallest encoder at a reduced size, from bundled texts and with mini-en as teacher.

    python -m benchmarks.zoo.rebuild

Measured: the correlation between the cosines of the student's vectors and those of the teacher's, over pairs of held-out texts. The exit
code is 1 if it is outside `BAND`, which was chosen from seeds 1 to 5 on two cores (0.57 to 0.64; without training 0.23).
"""

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.common import record

ENCODER, TEACHER = "albert-small-en", "mini-en"
SIZES = {"num_hidden_layers": 3}  # those of the teacher
TEXTS, VOCABULARY, BATCH_SIZE = 1_400, 3_000, 32
BAND = (0.50, 0.72)
PACKAGES = ("tensorflow", "tf-keras", "tokenizers", "numpy")


def main() -> None:
    """Build the encoder with each seed, write the result, and exit with code 1 if one is outside the band."""
    arguments = _arguments()
    load, runs = record.load(), []
    for seed in arguments.seeds:
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            correlation = _build(seed, Path(folder))
        runs.append({"seed": seed, "correlation": correlation, "seconds": round(time.monotonic() - start)})
        print(f"seed {seed}: {correlation:.3f} in {runs[-1]['seconds']} s, expected {BAND[0]} to {BAND[1]}", flush=True)
    record.write(arguments.json, {"band": BAND, "runs": runs}, record.versions(PACKAGES), load)
    if not all(BAND[0] <= run["correlation"] <= BAND[1] for run in runs):
        sys.exit(f"expected correlations from {BAND[0]} to {BAND[1]}, received {runs}")


def _build(seed: int, work: Path) -> float:
    import kerasbert as kb
    from kerasbert.data import assistant
    from kerasbert.zoo.building.build import build_encoder
    from kerasbert.zoo.building.recipe import Recipe
    from kerasbert.zoo.building.teacher import held_out
    from kerasbert.zoo.catalog import find

    texts = [text for split in assistant.SPLITS for text in assistant.load(split).texts]
    source = work / "assistant.txt"
    source.write_text("\n".join(texts) + "\n", "utf-8")
    recipe = Recipe.read(find(ENCODER).recipe).reduced(TEXTS)
    recipe = replace(
        recipe, seed=seed, vocabulary=VOCABULARY, precision="float32", sizes={**recipe.sizes, **SIZES},
        stages=[replace(stage, batch_size=BATCH_SIZE) for stage in recipe.stages],
    )  # fmt: skip
    student = build_encoder(recipe, [source], [find(TEACHER).path], work / "build")
    trained_on = (work / "build" / "texts.txt").read_text("utf-8").splitlines()
    unseen = trained_on[-held_out(len(trained_on)) :]
    pairs = np.triu_indices(len(unseen), 1)
    sides = [encoder.predict(unseen) for encoder in (student, kb.SentenceEncoder.from_pretrained(TEACHER))]
    return float(np.corrcoef(*((vectors @ vectors.T)[pairs] for vectors in sides))[0, 1])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", nargs="+", type=int, default=[1], metavar="N", help="seeds (1)")
    record.add_output(parser, "zoo_rebuild")
    return parser.parse_args()


if __name__ == "__main__":
    main()
