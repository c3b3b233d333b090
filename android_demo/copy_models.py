"""Copies models and the phrases to search into the app's assets; run once before the app is built.

    python3 android_demo/copy_models.py                       the zoo's task files but those for one trade
    python3 android_demo/copy_models.py a.tflite b.tflite     models of your own in their place

Needs Python 3.10 or later and no packages. Models in the assets that are not named are removed.
"""

import json
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ASSETS = HERE / "app" / "src" / "main" / "assets"
PHRASES = HERE.parent / "kerasbert" / "data" / "assistant"
PARTS = ("train", "dev", "test")
TRADES = ("banking",)  # they would be the first that a person sees, and the sample phrases are to an assistant


def main(arguments: list[str]) -> None:
    """Copy the models that are named, or those of the zoo."""
    zoo = sorted((HERE.parent / "zoo" / "files").glob("*.tflite"))
    models = [Path(each) for each in arguments] or [each for each in zoo if each.stem not in TRADES]
    check(models)
    folder = ASSETS / "models"
    folder.mkdir(parents=True, exist_ok=True)
    for other in set(folder.glob("*.tflite")) - {folder / model.name for model in models}:
        other.unlink()
    for model in models:
        target = folder / model.name
        if not (target.exists() and model.samefile(target)):
            shutil.copyfile(model, target)
        print(f"{target.relative_to(HERE.parent)}  {model.stat().st_size / 1e6:.1f} MB")
    phrases = read_phrases()
    (ASSETS / "phrases.txt").write_text("".join(f"{phrase}\n" for phrase in phrases), "utf-8")
    print(f"{(ASSETS / 'phrases.txt').relative_to(HERE.parent)}  {len(phrases):,} phrases")


def check(models: list[Path]) -> None:
    """End the program if a model cannot be used."""
    if not models:
        sys.exit("expected models in zoo/files, received none; name .tflite files of `kerasbert convert`")
    for model in models:
        if not model.is_file():
            sys.exit(f"expected a .tflite file, received {model}, which is not there; check the path")
        with model.open("rb") as content:
            if model.suffix != ".tflite" or content.read(8)[4:] != b"TFL3":
                sys.exit(f"expected a .tflite file of `kerasbert convert`, received {model}; convert a model first")
    names = [model.name for model in models]
    if len(set(names)) < len(names):
        sys.exit("expected models of different names, received one name twice; rename a file")


def read_phrases() -> list[str]:
    """Return the phrases of kerasbert's bundled assistant data, each once."""
    lines = [line for part in PARTS for line in (PHRASES / f"{part}.jsonl").read_text("utf-8").splitlines()]
    return list(dict.fromkeys(json.loads(line)["text"] for line in lines))


if __name__ == "__main__":
    main(sys.argv[1:])
