"""`TextIndex`: texts that are searched by meaning, in memory and as one file."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from kerasbert.arguments import argument, check_choice, check_whole_number, shown, to_list
from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.call_arguments import check_search
from kerasbert.export.runtime.opening import open
from kerasbert.export.runtime.pipeline import Pipeline
from kerasbert.retrieval.chunks import check_overlap, chunks
from kerasbert.retrieval.encoder import Encoder
from kerasbert.retrieval.engines import ENGINES, EXACT, Engine
from kerasbert.retrieval.index_file import ENDING, IndexInfo, read_index, write_index
from kerasbert.retrieval.projection import fit_projection, project
from kerasbert.retrieval.reranking import combined_order
from kerasbert.retrieval.rows import Rows, checksum
from kerasbert.retrieval.stored_vectors import FORMS, INT8, StoredVectors
from kerasbert.sharing import PerProcess, ThreadLock
from kerasbert.text.strings import as_strings
from kerasbert.values import is_number

_CHUNK = 126  # tokens, with two special ones 128, unless the model's rows are shorter
_BATCH = 4096  # texts whose vectors are in memory in float at a time
_TEXTS_OF_DIMENSION = 20  # at least, from which a projection is made
_CANDIDATES = 20  # that a reranker orders
_RERANK_WEIGHT = 0.5  # of its scores, beside the cosines


@dataclass(frozen=True)
class Added:
    """What `TextIndex.add` did, in documents.

    Attributes:
        added: Documents that are new.
        replaced: Documents whose text had changed.
        unchanged: Documents that were there already, and were not encoded again.
        blank: Documents without any word, which are not in the index.
        rows: Rows that were encoded.

    Example:
        ```python
        added = kb.TextIndex("search").add(["Parcels arrive in two days.", "Refunds take a week."])
        added.rows, added.unchanged  # 2, 0
        ```
    """

    added: int
    replaced: int
    unchanged: int
    blank: int
    rows: int


@dataclass(frozen=True)
class _State:
    """What a search needs; replaced whole, so that a search in another thread sees the old or the new one."""

    info: IndexInfo | None
    projection: np.ndarray | None
    rows: Rows
    # Made at the first search after a change, outside of the lock of `add`.
    engine: PerProcess[Engine] = field(default_factory=lambda: PerProcess("an engine"))


class TextIndex:
    """Texts with their vectors, to be searched by meaning.

    Long texts are divided into chunks; a row of the index is one chunk. The vectors are kept in 8 bits or in one. Several threads may
    search while one adds.

    Args:
        model: A sentence encoder: a `.tflite` file, a model of the zoo, a folder, or what `kb.open` returned.
        chunk: The most tokens of a row; by default as many as the model takes, at most 126. 0 keeps texts whole, which the model then
            truncates.
        overlap: Tokens with which a chunk repeats the end of the one before it, at most.
        dimensions: Numbers that a vector keeps (principal components of the first texts); None for all.
        vectors: `int8`, or `bit` for the signs alone: an eighth of the size, at some loss.
        engine: `exact`; `bits`, which looks at the signs first; `faiss-flat` or `faiss-hnsw`, of the extra `kerasbert[faiss]`, for a
            million rows. All but `exact` find candidates, of which the best are taken exactly.
        threads: CPU threads of the runtime.

    Raises:
        KerasBertError: When the model is no sentence encoder, or an argument is out of range.

    Example:
        ```python
        index = kb.TextIndex("search")
        index.add(["Parcels arrive in two days.", "Refunds take a week."], names=["delivery", "refunds"])
        index.search("when do I get my money back")[0]["document"]
        index.save("help.kbindex")
        ```
    """

    def __init__(
        self,
        model: str | os.PathLike | Pipeline = "search",
        *,
        chunk: int | None = None,
        overlap: int = 0,
        dimensions: int | None = None,
        vectors: str = INT8,
        engine: str = EXACT,
        threads: int = 1,
    ) -> None:
        self._encoder = Encoder.open(model, threads)
        self._chunk = _check_chunk(chunk, self._encoder.room)
        self._overlap = check_overlap(overlap, self._chunk or 1)
        self._dimensions = (
            None if dimensions is None else check_whole_number(dimensions, f"{argument('dimensions')}", most=1 << 14)
        )
        self._form = check_choice(vectors, "vectors of", FORMS)
        self._engine = check_choice(engine, "an engine of", tuple(ENGINES))
        self._lock = ThreadLock("TextIndex.add")
        self._state = _State(None, None, Rows.none(1))

    @classmethod
    def read(
        cls,
        path: str | os.PathLike,
        model: str | os.PathLike | Pipeline | None = None,
        *,
        engine: str = EXACT,
        threads: int = 1,
    ) -> Self:
        """Read an index that `save` wrote, or the Android or the web demo.

        Args:
            path: The file.
            model: The sentence encoder that encodes queries and new texts; by default the one under whose name the index was made.
            engine: See `TextIndex`.
            threads: CPU threads of the runtime.

        Returns:
            The index.

        Raises:
            KerasBertError: When the file is damaged, or its vectors are those of another model.
        """
        info, projection, rows = read_index(path)
        opened = _model_of(info, model, threads)
        if opened.vectors_name != info.model:
            advice = (
                "name the model with which it was made" if model is not None else f"name it with {argument('model')}"
            )
            raise KerasBertError(
                f"expected the model of the index {os.fspath(path)!r}, opened as {info.opened_as!r}, received {opened.name!r} with "
                f"other weights or another prompt; {advice}, or build the index again"
            )
        width = None if projection is None else info.dimensions
        index = cls(
            opened.pipeline, chunk=info.chunk, overlap=info.overlap, dimensions=width, vectors=info.form, engine=engine, threads=threads
        )  # fmt: skip
        index._state = _State(info, projection, rows)
        return index

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._state.rows)

    @property
    def documents(self) -> tuple[str, ...]:
        """The names of the documents, in the order in which they were added."""
        return self._state.rows.names

    @property
    def model(self) -> Pipeline:
        """The sentence encoder."""
        return self._encoder.pipeline

    def settings(self) -> dict[str, Any]:
        """Return the model's name, `chunk`, `overlap`, `dimensions` and `vectors`, as the constructor takes them."""
        named = {"model": self._encoder.name, "chunk": self._chunk, "overlap": self._overlap}
        return {**named, "dimensions": self._dimensions, "vectors": self._form}

    def check_settings(self, **wanted: Any) -> None:
        """Check that the index has settings that were asked for.

        Args:
            wanted: Settings by name; None for any.

        Raises:
            KerasBertError: When one differs.
        """
        for name, value in self.settings().items():
            if wanted.get(name) not in (None, value):
                raise KerasBertError(
                    f"expected {argument(name)} as the index has it, {value!r}, received {shown(wanted[name])}; leave it out, or make "
                    "a new index"
                )

    def add(self, texts: Sequence[str], names: Sequence[str] | None = None, report: Any = None) -> Added:
        """Add documents. A document of a name that is there already is replaced if its text has changed, and otherwise not encoded again.

        Args:
            texts: The text of each document, of any length.
            names: The name of each document, such as a path; by default running numbers.
            report: Called with the rows encoded and all rows.

        Returns:
            What was added.

        Raises:
            KerasBertError: When the numbers of texts and names differ, a name is there twice, or no text has a word.
        """
        texts = as_strings(to_list(texts, "texts to add"))
        with self._lock.held:
            state = self._state
            names = self._checked_names(texts, names, state.rows)
            known = dict(zip(state.rows.names, state.rows.checksums.tolist(), strict=True))
            sums = [checksum(text) for text in texts]
            changed = [place for place, name in enumerate(names) if known.get(name) != sums[place]]
            places = [(place, *bounds) for place in changed for bounds in self._chunks(texts[place])]
            replaced = {names[place] for place in changed} & known.keys()
            used = list(dict.fromkeys(place for place, _, _ in places))
            result = Added(
                len(used) - len(replaced.intersection(names[place] for place in used)), len(replaced), len(texts) - len(changed),
                len(changed) - len(used), len(places),
            )  # fmt: skip
            kept = state.rows.without(replaced)
            if not places:
                if state.info is None:
                    raise KerasBertError("expected texts with words to search, received none; pass others")
                self._state = _State(state.info, state.projection, kept) if replaced else state
                return result
            info, projection, vectors = self._encoded([texts[p][start:end] for p, start, end in places], state, report)
            numbers = {place: number for number, place in enumerate(used)}
            new = Rows.of(
                vectors,
                [texts[place][start:end] for place, start, end in places],
                [numbers[place] for place, _, _ in places],
                [start for _, start, _ in places],
                [names[place] for place in used],
                [sums[place] for place in used],
            )
            self._state = _State(info, projection, Rows.all_of([kept, new]) if len(kept) else new)
        return result

    def remove(self, names: Sequence[str]) -> int:
        """Remove documents.

        Args:
            names: Their names.

        Returns:
            The number of rows that were removed.

        Raises:
            KerasBertError: When there is no document of a name.
        """
        names = as_strings(to_list(names, "names of documents"), "names")
        with self._lock.held:
            state = self._state
            rows, known = state.rows, set(state.rows.names)
            if (unknown := next((name for name in names if name not in known), None)) is not None:
                raise KerasBertError(
                    f"expected a document of the index, received {unknown!r}; `documents` lists their names"
                )
            kept = rows.without(set(names))
            self._state = _State(state.info, state.projection, kept)
        return len(rows) - len(kept)

    def search(
        self,
        query: str,
        top_k: int = 10,
        *,
        rerank: str | os.PathLike | Pipeline | None = None,
        candidates: int = _CANDIDATES,
        rerank_weight: float = _RERANK_WEIGHT,
    ) -> list[dict[str, Any]]:
        """Find the rows that are most similar to a query.

        Args:
            query: A text.
            top_k: The number of rows to find.
            rerank: A model of pairs, which scores the first `candidates` too; see `kb.open(...).rank`.
            candidates: The number of rows that it scores; `top_k` if that is more.
            rerank_weight: The weight of its scores, from 0 to 1; the cosines have the rest. Both are standardized over the candidates. 1 is
                the order of the model alone.

        Returns:
            The best rows first: `index`, `score` (the cosine, with `rerank` the model's score, beside `cosine`; the order is that of
            both), `text`, `document`, and the characters `start` and `end` of the text in its document.

        Raises:
            KerasBertError: When the query is blank or not one text, `top_k` is below 1, the other model has no score for pairs, or
                `rerank_weight` is not from 0 to 1.
        """
        check_search(query, [], top_k)
        if not query.strip():
            raise KerasBertError("expected a query with words, received a blank one; type what to find")
        candidates = check_whole_number(candidates, f"{argument('candidates')}")
        if not is_number(rerank_weight, 0, 1):
            raise KerasBertError(
                f"expected {argument('rerank_weight')} as a number from 0 to 1, received {shown(rerank_weight)}; correct it"
            )
        state = self._state
        if not len(state.rows):
            return []
        wanted = StoredVectors.of(project(self._encoder.queries([query]), state.projection))
        count = top_k if rerank is None else max(top_k, candidates)
        engine = state.engine.get(lambda: ENGINES[self._engine](state.rows.vectors))
        among = engine.candidates(wanted, count)
        found = [_match(state.rows, row, score) for row, score in state.rows.vectors.search(wanted, count, among)]
        if rerank is None:
            return found
        reranker = rerank if isinstance(rerank, Pipeline) else open(rerank, threads=self.model.threads)
        scored = reranker.rank(query, [each["text"] for each in found], len(found))
        scores = {each["index"]: each["score"] for each in scored}
        cosines = [each["score"] for each in found]
        order = combined_order(cosines, [scores[place] for place in range(len(found))], rerank_weight)
        return [{**found[place], "score": scores[place], "cosine": cosines[place]} for place in order[:top_k]]

    def save(self, path: str | os.PathLike) -> Path:
        """Write the index as a file that Python, Kotlin and JavaScript read. A file of that name is replaced whole.

        Args:
            path: The file, with the ending `.kbindex`.

        Returns:
            The path.

        Raises:
            KerasBertError: When nothing was added, the ending is another one, or another program's file is there.
        """
        path, state = Path(path), self._state
        if path.suffix != ENDING:
            raise KerasBertError(f"expected a file name ending in {ENDING}, received {str(path)!r}; rename it")
        if state.info is None:
            raise KerasBertError("expected texts in the index, received none; add some first")
        from kerasbert.files.own_files import INDEX, check_own

        check_own(path, INDEX, "the index")
        write_index(path, state.info, state.projection, state.rows)
        return path

    def _chunks(self, text: str) -> list[tuple[int, int]]:
        if not self._chunk:
            return [(0, len(text))] if text.strip() else []
        return chunks(text, self._encoder.tokenizer, self._chunk, self._overlap)

    def _checked_names(self, texts: list[str], names: Sequence[str] | None, rows: Rows) -> list[str]:
        if names is None:
            taken, number, found = set(rows.names), len(rows.names), []
            while len(found) < len(texts):
                if str(number) not in taken:
                    found.append(str(number))
                number += 1
            return found
        names = as_strings(to_list(names, "names of documents"), "names")
        if len(names) != len(texts):
            raise KerasBertError(
                f"expected a name for each of the {len(texts):,} texts, received {len(names):,}; pass one each"
            )
        if len(set(names)) < len(names):
            twice, _ = Counter(names).most_common(1)[0]
            raise KerasBertError(f"expected one text for a name, received two for {twice!r}; join them, or rename one")
        return names

    def _encoded(
        self, texts: list[str], state: _State, report: Any
    ) -> tuple[IndexInfo, np.ndarray | None, StoredVectors]:
        """Return the vectors of rows, and what they are; the first texts give the projection."""
        projection, done = state.projection, 0
        parts: list[StoredVectors] = []
        width = 0

        def vectors_of(count: int) -> np.ndarray:
            nonlocal done, width
            start, done = done, min(done + count, len(texts))
            vectors = self._encoder.documents(
                texts[start:done], None if report is None else lambda rows, _: report(start + rows, len(texts))
            )
            width = vectors.shape[1]
            return vectors

        if self._dimensions is not None and projection is None:
            first = vectors_of(max(_BATCH, _TEXTS_OF_DIMENSION * self._dimensions))
            projection = fit_projection(first, self._dimensions)
            parts.append(StoredVectors.of(project(first, projection), self._form))
        while done < len(texts):
            vectors = vectors_of(_BATCH)
            parts.append(StoredVectors.of(project(vectors, projection), self._form))
        info = state.info or IndexInfo(
            self._encoder.vectors_name, self._encoder.name, width, width if projection is None else projection.shape[1],
            self._form, self._chunk, self._overlap,
        )  # fmt: skip
        values = np.concatenate([each.values for each in parts])
        return info, projection, StoredVectors(values, np.concatenate([each.scales for each in parts]))


def _model_of(info: IndexInfo, model: str | os.PathLike | Pipeline | None, threads: int) -> Encoder:
    if model is not None:
        return Encoder.open(model, threads)
    advice = f"name the model with {argument('model')}"
    if not info.opened_as:
        raise KerasBertError(
            f"expected the name of a model in the index, received none, as the demos write it; {advice}"
        )
    try:
        return Encoder.open(info.opened_as, threads)
    except KerasBertError as error:
        raise KerasBertError(
            f"expected the model {info.opened_as!r}, with which the index was made, received none that opens here ({error}); {advice}"
        ) from error


def _check_chunk(chunk: Any, room: int) -> int:
    if chunk is None:
        return min(_CHUNK, room)
    return check_whole_number(chunk, f"{argument('chunk')}", least=0, most=room)


def _match(rows: Rows, row: int, score: float) -> dict[str, Any]:
    text, start = rows.text(row), int(rows.starts[row])
    return {
        "index": row, "score": score, "text": text, "document": rows.names[rows.documents[row]], "start": start,
        "end": start + len(text),
    }  # fmt: skip
