"""A file of classes that the page taught, opened in Python."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import kerasbert as kb

ROOT = Path(__file__).parents[2]
EXAMPLES = {
    "alarm": ["wake me at six", "set an alarm for noon", "alarm at seven please"],
    "music": ["play some jazz", "the next song please", "turn the music up"],
    "météo": ["will it rain", "how warm is it outside"],
}
TEXTS = ["another song", "is it cold today", "wake me at nine"]
SCRIPT = """
import { readFileSync, writeFileSync } from "node:fs";
import { TaughtClasses, taughtFile } from "CORE";
const { model, out, examples, texts } = JSON.parse(readFileSync(0, "utf8"));
const classes = new TaughtClasses(texts[0].length);
for (const [name, rows] of examples) for (const [text, vector] of rows) classes.add(name, text, Float32Array.from(vector));
writeFileSync(out, taughtFile(new Uint8Array(readFileSync(model)), "search", classes));
const classify = (vector) => classes.classify(Float32Array.from(vector)).map((each) => [each.name, each.probability]);
const found = texts.map((vector) => Object.fromEntries(classify(vector)));
console.log(JSON.stringify(found));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_python_opens_what_the_page_taught(tmp_path):
    encoder = kb.open("search")
    vectors = {name: [(text, encoder(text).tolist()) for text in texts] for name, texts in EXAMPLES.items()}
    out = tmp_path / "mine.tflite"
    script = tmp_path / "teach.mjs"
    script.write_text(SCRIPT.replace("CORE", (ROOT / "web_demo" / "core.js").as_uri()))
    given = {
        "model": encoder.name,
        "out": str(out),
        "examples": list(vectors.items()),
        "texts": [encoder(text).tolist() for text in TEXTS],
    }
    run = subprocess.run(["node", script], input=json.dumps(given), capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    opened = kb.open(out)
    assert opened.labels == ("alarm", "music", "météo")
    for text, expected in zip(TEXTS, json.loads(run.stdout), strict=True):
        assert opened(text)["probabilities"] == pytest.approx(expected, abs=1e-5)
    again = kb.FewShotClassifier(out).fit(["a", "b"], ["one", "two"])  # its encoder can be taught anew
    assert again.labels == ("one", "two")
    assert kb.export.TFLiteFile.read(out).require_metadata("to test").task == "FewShotClassifier"
