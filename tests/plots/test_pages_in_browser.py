"""The page of attention in Chromium: what a click on a token, a layer and a head shows."""

import html
import re
import subprocess

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.export.backends import web

pytestmark = pytest.mark.environment

TOKENS = ("[CLS]", "a", "<b>", "[SEP]")


def shown(page: str, clicks: str, path) -> str:
    """The document of a page in Chromium after some clicks, as HTML."""
    if (browser := web.find_browser()) is None:
        pytest.skip("no Chromium")
    path.write_text(page.replace("</body>", f"<script>{clicks}</script></body>"), "utf-8")
    command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=1000", "--dump-dom"]
    return subprocess.run([*command, path.as_uri()], text=True, capture_output=True, timeout=120, check=True).stdout


def test_a_click_shows_to_which_tokens_a_token_attends(tmp_path):
    draw = np.random.default_rng(0)
    weights = tuple(draw.dirichlet(np.ones(4), (heads, 4)).astype(np.float32) for heads in (2, 3))
    plot = kb.plots.AttentionPlot(TOKENS, (1, 2), ((1, 2), (1, 2, 3)), weights)
    clicks = "document.querySelectorAll('#layers button')[0].click(); document.querySelectorAll('#tokens button')[2].click();"
    found = shown(plot.page(), clicks, tmp_path / "attention.html")
    assert found.count('<div class="strip">') == 2 and 'id="asked">&lt;b&gt;, layer 1<' in found
    best = weights[0][:, 2].argmax(axis=-1)
    expected = [f"{TOKENS[place]} {weights[0][head, 2, place]:.2f}" for head, place in enumerate(best)]
    ends = [html.unescape(text) for text in re.findall(r"</p><i>(.*?)</i>", found)]
    assert [text.rpartition(" ")[0] for text in ends] == [text.rpartition(" ")[0] for text in expected]
    numbers = [[float(text.rpartition(" ")[2]) for text in texts] for texts in (ends, expected)]
    np.testing.assert_allclose(*numbers, atol=0.011)
    assert found.count("<canvas") == 5

    clicks += "document.querySelectorAll('#ways button')[1].click(); document.querySelectorAll('#overview canvas')[4].click();"
    found = shown(plot.page(), clicks, tmp_path / "attention.html")
    first = re.search(r'class="strip marked"><b>(.*?)</b>', found)
    assert first and first[1] == "head 3"
    titles = [float(each) for each in re.findall(r'title="(\d\.\d\d)"', found.partition("strip marked")[2])[:4]]
    np.testing.assert_allclose(titles, weights[1][2, :, 2], atol=0.01)


def test_a_click_shows_another_layer_of_words(tmp_path):
    plot = kb.plots.WordsPlot("a", ((0, "a b"), (1, "a c")), np.ones((3, 2, 2), np.float32), 2)
    found = shown(plot.page(), "document.querySelectorAll('.choice button')[0].click()", tmp_path / "words.html")
    assert re.findall(r'<div class="panel"( hidden="")?>', found) == ["", ' hidden=""', ' hidden=""']
