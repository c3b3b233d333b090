"""Rules for the sources of the page, which a strict content security policy and an offline site need."""

import posixpath
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "web_demo"
DEVELOPMENT = ("node", "node_modules", "package.json", "tests")  # what no browser loads
LONGEST_LINE = 140
TEXTS = (".css", ".html", ".js", ".json", ".svg", ".webmanifest")

# What turns text into markup or code.
UNSAFE = {
    "text as HTML": r"\b(?:innerHTML|outerHTML|insertAdjacentHTML|srcdoc|createContextualFragment|DOMParser|setHTMLUnsafe)\b",
    "text as HTML, by document.write": r"\bdocument\s*\.\s*write",
    "text as code": r"\beval\s*\(|\bFunction\s*\(|\bset(?:Timeout|Interval)\s*\(\s*[\"'`]|\bjavascript:",
    "an inline style": r"\bsetAttribute\(\s*[\"']style[\"']",
}
INLINE = {
    "an inline script": r"<script(?![^>]*\ssrc=)",
    "an inline style": r"<style\b|<[^>]*\sstyle\s*=",
    "an inline handler": r"<[^>]*\son[a-z]+\s*=",
    "a document inside": r"<(?:iframe|object|embed)\b",
}
# Characters of a host's name follow; the one before keeps comments of scripts out, which have no letter behind `//`.
OTHER_HOST = {"another host": r"\b(?:https?|wss?|ftp)://[^\s\"'`)>]+|[\"'(]//[a-z0-9-]+\.[^\s\"'`)>]*"}
NAMESPACES = re.compile(r"http://www\.w3\.org/(?:2000/svg|1999/xlink|1999/xhtml)")
NOT_PURE = {
    "a name of pages, workers or Node": r"\b(?:document|navigator|localStorage|indexedDB|process|Buffer)\s*[.\[]|"
    r"\b(?:fetch|require|importScripts|postMessage)\s*\("
}
IMPORT = re.compile(
    r"^(?:import\s*|(?:import|export)\s[^;\"'=()]*?\bfrom\s*)[\"']([^\"']+)[\"']|\bimport\(\s*[\"']([^\"']+)[\"']",
    re.MULTILINE,
)


def sources(*suffixes: str) -> dict[str, str]:
    """Path -> text, of what a browser loads."""
    paths = [path.relative_to(PAGE) for path in sorted(PAGE.rglob("*")) if path.is_file() and path.suffix in suffixes]
    own = [path for path in paths if path.parts[0] not in DEVELOPMENT]
    return {path.as_posix(): (PAGE / path).read_text("utf-8") for path in own}


def without_comments(script: str) -> str:
    """A script with its block comments and whole lines of comments left blank, so that numbers of lines stay."""
    blank = re.sub(r"/\*.*?\*/", lambda comment: re.sub(r"[^\n]", "", comment[0]), script, flags=re.DOTALL)
    return re.sub(r"^\s*//.*$", "", blank, flags=re.MULTILINE)


def findings(text: str, rules: dict[str, str]) -> list[str]:
    return [
        f"line {text.count(chr(10), 0, match.start()) + 1}: {name}, {match[0]}"
        for name, pattern in rules.items()
        for match in re.finditer(pattern, text)
    ]


def wrong(texts: dict[str, str], rules: dict[str, str]) -> list[str]:
    return [f"{path}, {finding}" for path, text in texts.items() for finding in findings(text, rules)]


def imports(script: str) -> list[str]:
    return [first or second for first, second in IMPORT.findall(without_comments(script))]


def test_texts_never_become_markup_or_code():
    assert wrong({path: without_comments(text) for path, text in sources(".js").items()}, UNSAFE) == []


def test_html_has_nothing_inline():
    assert wrong(sources(".html", ".svg"), INLINE) == []


def test_no_file_names_another_host():
    texts = {path: NAMESPACES.sub("", text) for path, text in sources(*TEXTS).items()}
    assert wrong(texts, OTHER_HOST) == []


def test_the_core_runs_in_a_page_a_worker_and_node():
    core = {path: without_comments(text) for path, text in sources(".js").items() if path.startswith("core/")}
    assert len(core) > 20 and wrong(core, NOT_PURE) == []


def test_every_import_is_a_file_of_the_site():
    scripts, missing = sources(".js"), []
    for path, text in scripts.items():
        for name in imports(text):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
            if not name.startswith(".") or target not in scripts and not target.startswith("litert/"):
                missing.append(f"{path}: {name}")
            elif path.startswith("core/") and not target.startswith("core/"):
                missing.append(f"{path}: {name}, outside of the core")
    assert missing == []


def test_the_form_of_scripts():
    """Of Node's side too; files of others in `node_modules` are not ours."""
    paths = [path for path in sorted(PAGE.rglob("*")) if path.suffix in (".js", ".mjs", ".css") and path.is_file()]
    found = [fault for path in paths if "node_modules" not in path.parts for fault in faults(path)]
    assert len(paths) > 100 and found == []


def faults(path: Path) -> list[str]:
    name, text = path.relative_to(PAGE).as_posix(), path.read_text("utf-8")
    lines = list(enumerate(text.split("\n"), start=1))
    wrong_lines = [
        number for number, line in lines if len(line) > LONGEST_LINE or line != line.rstrip() or "\t" in line
    ]
    wrong_end = not text.endswith("\n") or text.endswith("\n\n")
    named = re.fullmatch(r"(?:[a-z0-9_]+/)*[a-z0-9_]+\.\w+", name)
    return [f"{name}, line {number}" for number in wrong_lines] + ([] if named and not wrong_end else [name])


@pytest.mark.parametrize(
    "rules, text",
    [
        (UNSAFE, "element.innerHTML = text"), (UNSAFE, 'setTimeout("run()", 1)'), (UNSAFE, "new Function(text)"),
        (UNSAFE, "eval (text)"), (UNSAFE, "document.write(text)"), (UNSAFE, "element.setAttribute('style', text)"),
        (INLINE, "<script>run()</script>"), (INLINE, '<p class="a" style="color: red">'), (INLINE, "<style>p {}</style>"),
        (INLINE, "<p onclick=run()>"), (INLINE, "<iframe src=a>"),
        (OTHER_HOST, 'fetch("https://example.com/a")'), (OTHER_HOST, "url(//example.com/a.png)"),
        (NOT_PURE, "document.title"), (NOT_PURE, "await fetch(url)"), (NOT_PURE, "process.argv"),
    ],
)  # fmt: skip
def test_each_rule_finds_what_it_looks_for(rules, text):
    assert len(findings(f"\n{text}", rules)) == 1 and findings(f"\n{text}", rules)[0].startswith("line 2: ")


def test_each_rule_lets_the_rest_pass():
    text = '<script type="module" src="app.js"></script>\n// two // slashes\nelement.style.width = "1px"; run(Function)\nA = "b";'
    assert findings(text, {**UNSAFE, **INLINE, **OTHER_HOST, **NOT_PURE}) == []


def test_faults_of_form_are_found(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "PAGE", tmp_path)
    for name, text, count in (
        ("a.js", "a;\n", 0), ("B.js", "a;\n", 1), ("a-b.js", "a;\n", 1), ("c.js", "a;", 1), ("d.js", "a;\n\n", 1), ("e.js", "a; \n", 1),
        ("f.js", "\ta;\n", 1), ("g.js", "a" * 141 + "\n", 1),
    ):  # fmt: skip
        (tmp_path / name).write_text(text)
        assert len(faults(tmp_path / name)) == count, name


def test_imports_are_found():
    script = 'import { a } from "./a.js";\nexport {\n  b,\n} from "./b.js";\n// import "c"\n/* import "d" */\nawait import("./e.js");\n'
    script += 'export const F = "g";\nimport "./h.js";\nexport * from "./i.js";\nfunction from() { return "j"; }\n'
    assert imports(script) == ["./a.js", "./b.js", "./e.js", "./h.js", "./i.js"]
