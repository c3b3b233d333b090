"""The reader of the settings of a training."""

from pathlib import Path

from benchmarks.robustness.fuzz_targets.target import Target


def _recipe(folder: Path) -> None:
    from kerasbert.training.config import TrainConfig

    recipe = TrainConfig(**TrainConfig.read(folder / "config.toml"))
    recipe.write(folder / "again.toml")
    (folder / "again.toml").unlink()


_RECIPE = (
    b'model = "m"\ntrain = "a.tsv"\nlabels = "a,b"\nepochs = 3\nlearning_rate = 5e-5\nwarmup = 0.1\nunfreeze = true\n'
    b'schedule = "cosine"\nrates = {"layers.-1" = 1e-3, head = 0.1}\nseed = 7\nclass_weights = "a=2,b=1"\n'
)

TARGETS = [Target("config.toml", _recipe, lambda: [{"config.toml": _RECIPE}])]
