"""`kerasbert index` and `kerasbert search`: files, folders and tables; updates; what is refused."""

import json

import pytest


@pytest.fixture
def notes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "notes"
    (folder / "more" / ".hidden").mkdir(parents=True)
    (folder / "film.txt").write_text("\ufeffThe film was long.\r\n\r\nWe saw it again.")
    (folder / "more" / "post.md").write_text("# Post\n\nA parcel arrives in two days.\n")
    (folder / "more" / ".hidden" / "x.txt").write_text("hidden")
    (folder / "photo.jpg").write_bytes(b"\xff\xd8\xff")
    (tmp_path / "faq.csv").write_text('text,label\n"My card was stolen, what now?",a\nHow can I pay,b\n')
    return folder


def result(run, *arguments):
    done = run(*arguments, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_files_folders_and_tables_are_searched(notes, run):
    made = result(run, "index", "notes", "faq.csv", "-o", "n.kbindex")
    assert (made["documents"], made["rows"], made["model"], made["chunk"]) == (4, 4, "search", 126)
    found = result(run, "search", "n.kbindex", "when will my package arrive", "somebody took my card", "--top-k", "2")
    names = [each["matches"][0]["document"] for each in found["results"]]
    assert names == ["notes/more/post.md", "faq.csv:2"] and len(found["results"][0]["matches"]) == 2
    shown = run("search", "n.kbindex", "when will my package arrive")
    assert shown.code == 0 and "post.md" in shown.out.splitlines()[2] and "parcel" in shown.out.splitlines()[2]
    inside = run("index", "notes", "-o", "lines.kbindex", "--lines")
    assert inside.code == 0 and 'kerasbert search lines.kbindex "QUERY"' in inside.out


def test_a_second_run_encodes_what_has_changed(notes, run):
    result(run, "index", "notes", "faq.csv", "-o", "n.kbindex")
    (notes / "film.txt").write_text("The film was short.")
    (notes / "new.txt").write_text("A new text.")
    again = result(run, "index", "notes", "-o", "n.kbindex")
    assert again["documents"] == 5
    assert again["update"] == {"added": 1, "replaced": 1, "unchanged": 1, "blank": 0, "rows": 2, "removed": 0}
    (notes / "new.txt").unlink()
    assert result(run, "index", "notes", "-o", "n.kbindex", "--delete")["update"]["removed"] == 3
    (match,) = result(run, "search", "n.kbindex", "short film", "--top-k", "1")["results"][0]["matches"]
    assert match["text"] == "The film was short."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["index", "notes", "-o", "n.txt"], "ending in .kbindex as --out"),
        (["index", "nowhere", "-o", "n.kbindex"], "nowhere"),
        (["index", "notes", "notes/film.txt", "-o", "n.kbindex"], "each file once"),
        (["index", "notes/photo.jpg", "-o", "n.kbindex"], "photo.jpg"),
        (["index", "notes/more/.hidden/..", "-o", "n.kbindex", "--chunk", "999"], "--chunk"),
        (["index", "empty", "-o", "n.kbindex"], "files of text in the folder 'empty'"),
        (["index", "notes", "-o", "n.kbindex", "--model", "intents"], "sentence encoder to search texts"),
        (["index", "notes", "-o", "n.kbindex", "--text-column", "body"], "expected a table for --text-column"),
        (["index", "faq.csv", "-o", "n.kbindex", "--text-column", "body"], "body"),
        (["search", "faq.csv", "a"], "which is another file"),
        (["search", "none.kbindex", "a"], "No such file"),
    ],
)
def test_what_cannot_be_indexed_or_searched_is_refused_in_one_line(notes, run, arguments, message):
    (notes.parent / "empty").mkdir()
    done = run(*arguments)
    assert done.code == 2 and message in done.err.splitlines()[-1] and "Traceback" not in done.err
    assert not (notes.parent / "n.kbindex").exists()


def test_settings_of_an_index_stay(notes, run):
    result(run, "index", "notes", "-o", "n.kbindex", "--chunk", "20", "--vectors", "bit")
    before = (notes.parent / "n.kbindex").read_bytes()
    done = run("index", "faq.csv", "-o", "n.kbindex", "--chunk", "30")
    assert done.code == 2 and "--chunk as the index has it, 20, received 30" in done.err
    done = run("index", "faq.csv", "-o", "n.kbindex", "--model", "small-en")
    assert done.code == 2 and "other weights" in done.err
    assert (notes.parent / "n.kbindex").read_bytes() == before
    assert result(run, "index", "faq.csv", "-o", "n.kbindex")["vectors"] == "bit"
