"""`kerasbert pretrain`."""

from pathlib import Path
from typing import TYPE_CHECKING

from kerasbert.cli.arguments import options
from kerasbert.cli.arguments.option_groups import OptionGroup, with_options
from kerasbert.cli.outputs.results import Result
from kerasbert.cli.runs.training_run import write_record
from kerasbert.cli.runs.worker_output import output_folder
from kerasbert.training.pretrain_config import PretrainConfig

if TYPE_CHECKING:
    from kerasbert.data.text_stream import TextStream
    from kerasbert.tasks.pretrainer import Pretrainer
    from kerasbert.text import Tokenizer


@with_options("strict", config=OptionGroup(PretrainConfig, required=("model", "text", "out")))
def pretrain(config: PretrainConfig, resume: options.Resume = False, overwrite: options.Overwrite = False) -> Result:
    """Pretrain an encoder on running text, from random weights or from a checkpoint.

    The texts are read as a stream: their size is not limited by the memory. The folder is a checkpoint for `kerasbert train`.

    Example: kerasbert pretrain --model bert-tiny --text corpus.txt.gz --vocabulary-size 8000 --dev dev.txt --out runs/encoder

    Example: kerasbert pretrain --model small-en --text reviews.txt --objectives masked-lm --masking words --steps 2000 \
      --out runs/reviews
    """
    with output_folder(config.out, config.distribute, resume) as out:
        return _pretrain(config, out, resume, overwrite)


def _pretrain(config: PretrainConfig, out: Path, resume: bool, overwrite: bool) -> Result:
    from dataclasses import asdict

    from kerasbert.cli.outputs.destinations import check_out_folder
    from kerasbert.cli.process.progress import note, progress
    from kerasbert.optional import require_package
    from kerasbert.training.run_folder import RunFolder, check_resumable
    from kerasbert.training.trainer import TRAINING

    check_out_folder(out, config.model, config.tokenizer, resume=resume, overwrite=overwrite)
    if config.tensorboard:
        require_package("tensorboard", "--tensorboard")
    folder, settings = RunFolder(out), asdict(config)
    if resume:
        check_resumable(folder, settings)
    task, texts, dev, continued = _load(config, out if resume else None)
    from kerasbert.training.plots import write_plots
    from kerasbert.training.pretraining import describe_objectives, pretrain as run, recommended_rate

    rate = config.learning_rate
    if rate is None:
        rate = recommended_rate(task, continued)
        note(
            f"learning rate {rate:g}: recommended for hidden size {task.config.hidden_size}{', continued' if continued else ''}"
        )
    if task.has_generator and config.generator_size > 1:
        note(
            "note: the generator is wider than the model, which learns little from it; 0.25 to 0.5 of its width are usual"
        )
    total = config.evaluations * config.steps_per_evaluation
    note(f"{describe_objectives(task)}; {total:,} steps of {config.batch_size} rows of {config.sequence_length} tokens")
    with progress(TRAINING) as bar:
        if not resume:
            folder.begin(settings)
            task.tokenizer.save(folder.tokenizer)  # a resumed run does not learn it again
        result = run(task, texts, dev, config, rate, folder, resume=resume, progress=bar)
        write_plots(folder)
    tokens = result.examples_per_second * config.sequence_length
    note(f"{result.seconds:.0f} s of training, {tokens:,.0f} tokens/s")
    if task.has_generator:
        task.save_generator(out / "generator")
    last = {name: value for name, value in result.epochs[-1].items() if name != "epoch"}
    record = write_record(
        out, {**settings, "learning_rate": rate, "objectives": task.objective_weights},
        files=[file.name for file in texts.files], vocabulary=task.tokenizer.vocabulary_size, tokens_per_second=tokens,
        evaluations=result.epochs, seconds=result.seconds,
    )  # fmt: skip
    folder.finish()
    shown = ", ".join(
        f"{name.replace('val_', 'dev ')} {value:.4f}" for name, value in last.items() if name in ("loss", "val_loss")
    )
    return Result({"out": out, "last": last, **record}, f"saved {out}: {shown}")


def _load(config: PretrainConfig, run: Path | None) -> "tuple[Pretrainer, TextStream, TextStream | None, bool]":
    """Return the task, the texts, those of evaluations, and whether the task has a checkpoint's weights."""
    from kerasbert.cli.process.progress import loading, note
    from kerasbert.training.pretraining_inputs import check_known_tokens, text_stream

    texts = text_stream(config.text, config.encoding)
    dev = None if config.dev is None else text_stream(config.dev, config.encoding)
    with loading("the model"):
        from kerasbert.tasks.precision import check_precision, dtype_policy
        from kerasbert.training import pretraining
        from kerasbert.training.preparation import strategy_named

        strategy = strategy_named(config.distribute)
        check_precision(config.precision)
        sizes = pretraining.model_config(config.model)
        if sizes is not None:
            pretraining.weights_of(config, sizes.model_type)  # refused before a vocabulary is learned
    tokenizer = None if sizes is None else _tokenizer(config, sizes.model_type, texts, run)
    with loading("the model"):
        with dtype_policy(config.precision), strategy.scope():
            if sizes is None or tokenizer is None:
                task = pretraining.loaded_pretrainer(config)
            else:
                task = pretraining.new_pretrainer(config, sizes, tokenizer)
    for stream in (texts, dev):
        if stream is not None and (line := check_known_tokens(task.tokenizer, stream)):
            note(f"note: {line}")
    return task, texts, dev, sizes is None


def _tokenizer(config: PretrainConfig, model_type: str, texts: "TextStream", run: Path | None) -> "Tokenizer":
    from kerasbert.cli.process.progress import note, progress
    from kerasbert.training import pretraining_inputs
    from kerasbert.training.run_folder import RunFolder

    if run is not None:
        return pretraining_inputs.saved_tokenizer(RunFolder(run).tokenizer)
    with progress("reading the tokenizer" if config.tokenizer else "learning the vocabulary"):
        tokenizer = pretraining_inputs.make_tokenizer(config, model_type, texts)
    if config.tokenizer is None:
        note(f"learned a vocabulary of {tokenizer.vocabulary_size:,} tokens from {len(texts.files):,} files")
    return tokenizer
