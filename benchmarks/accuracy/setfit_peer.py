"""SetFit (Tunstall et al. 2022) on the rows that `benchmarks.accuracy.few_examples_trained` sends; run by its `--peer-python`.

    python -m benchmarks.accuracy.setfit_peer FOLDER 1

Reads one JSON object a line from stdin: `texts`, `labels` (class numbers), `test`, `seed`. Writes one a line: `predictions`, `seconds`.
The model is loaded anew for each. Twenty pairs of each kind for a text are the paper's setting.
"""

import argparse
import json
import os
import sys
import tempfile
import time

PAIRS = 20
BATCH_SIZE = 16


def main() -> None:
    """Answer until stdin ends."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="a sentence encoder's folder")
    parser.add_argument("threads", type=int)
    arguments = parser.parse_args()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the libraries print to stdout
    import torch
    from datasets import Dataset
    from setfit import SetFitModel, Trainer, TrainingArguments

    torch.set_num_threads(arguments.threads)
    for line in sys.stdin:
        given = json.loads(line)
        begin = time.perf_counter()
        model = SetFitModel.from_pretrained(arguments.folder)
        model.model_body.float()  # folders of the zoo are in float16
        with tempfile.TemporaryDirectory() as work:
            settings = TrainingArguments(
                output_dir=work, batch_size=BATCH_SIZE, num_epochs=1, num_iterations=PAIRS, seed=given["seed"],
                report_to="none", show_progress_bar=False, save_strategy="no",
            )  # fmt: skip
            data = Dataset.from_dict({"text": given["texts"], "label": given["labels"]})
            Trainer(model=model, args=settings, train_dataset=data).train()
        seconds = time.perf_counter() - begin
        predictions = [int(each) for each in model.predict(given["test"])]
        print(json.dumps({"predictions": predictions, "seconds": seconds}), file=answers, flush=True)


if __name__ == "__main__":
    main()
