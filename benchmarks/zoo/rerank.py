"""Quality of a model of pairs behind a search: the right sentence among the results, before and after.

    python -m benchmarks.zoo.rerank rerank --search search --questions xquad.en.json.gz

Measured: over the sentences of all contexts, the share of questions whose sentence comes first, and nDCG@10, of the search alone and of its
first twenty ordered by cosine and score together; and the milliseconds of a question. MODEL is a name in the zoo or a file.
"""

import argparse
from pathlib import Path

import numpy as np

from benchmarks.accuracy.retrieval import TOP, of_ranks, read_questions, reranked
from benchmarks.common import record
from benchmarks.zoo.rows import make_result

PACKAGES = ("ai-edge-litert", "numpy", "tokenizers")


def main() -> None:
    """Measure, and add the lines to `zoo/results.csv` unless `--dry-run` is given."""
    arguments = _arguments()
    import kerasbert as kb
    from kerasbert.model_names import shipped_model
    from kerasbert.zoo.results import add_results

    load, path = record.load(), shipped_model(arguments.model) or Path(arguments.model)
    sentences, questions = read_questions(arguments.questions)
    opened = kb.open(arguments.search)
    index, places = kb.TextIndex(opened, chunk=0), []
    index.add(sentences)
    for question, right in questions:
        found = [each["index"] for each in index.search(question, TOP)]
        places.append(found.index(right) + 1 if right in found else len(sentences))
    result = {
        "search": arguments.search, "model": path.stem, "sentences": len(sentences), "questions": len(questions),
        "alone": of_ranks(np.array(places)), "reranked": reranked(kb, opened, path, sentences, questions),
    }  # fmt: skip
    lines = [make_result(path.stem, "int8", "file", "size MB", [path.stat().st_size / 1e6], "")]
    for metric in ("first", "nDCG@10"):
        for name, scores in ((f"of {arguments.search}", result["alone"]), ("after search", result["reranked"])):
            lines.append(
                make_result(path.stem, "int8", arguments.named, f"{metric} {name}", [scores[metric]], "xnnpack")
            )
    for line in lines:
        print(f"{line.data} {line.metric}: {line.value:.4f}")
    print("ms a question:", result["reranked"]["ms a query"])
    if not arguments.dry_run:
        add_results(lines)
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL", help="a model of pairs: a name in the zoo, or a .tflite file")
    parser.add_argument("--search", default="search", metavar="MODEL", help="the sentence encoder (search)")
    parser.add_argument("--questions", type=Path, required=True, metavar="FILE", help="questions in the form of SQuAD")
    parser.add_argument("--named", default="XQuAD, English", metavar="NAME", help="the data set, as in zoo/results.csv")
    parser.add_argument("--dry-run", action="store_true", help="leave zoo/results.csv as it is")
    record.add_output(parser, "zoo_rerank")
    return parser.parse_args()


if __name__ == "__main__":
    main()
