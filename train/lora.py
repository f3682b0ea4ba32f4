# /// script
# requires-python = ">=3.10"
# dependencies = [
#     "torch==2.15.0",
#     "transformers==5.23.0",
#     "peft==0.21.2",
#     "trl==1.16.0",
#     "accelerate==1.15.0",
#     "datasets==5.2.0",
# ]
# ///
"""Trains a LoRA adapter on the files of `halma train pairs` or `halma train keywords`.

    uv run train/lora.py pairs --base meta-llama/Llama-3.1-8B-Instruct --out adapter
    uv run train/lora.py preferences --kind dpo --base MERGED --out adapter
    uv run train/lora.py keywords --recipe keywords --base meta-llama/Llama-3.2-3B-Instruct --out adapter

The folder must be of `--format trl`. The constants are the papers'; every one can be changed by a
flag. A GPU is used where there is one. After each epoch, and every --save-steps steps, a checkpoint
is written; after a kill the same command resumes from it. The adapter's folder also gets
`halma.json`: what it was trained on, with the losses, so that `merge.py` can refuse another base
model.
"""

import argparse
import hashlib
import json
import os
import sys
from pathlib import Path

import resume
from resume import ABOUT, CHECKPOINTS, fail

# TRL would report the kind of the model and of the GPU to its makers.
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

# PIKE-RAG, Section 6.4: LoRA of rank 16 with alpha 64 and a learning rate of 1.5e-5, all else TRL's
# defaults. DEC, Section 4.1: 5e-5 and two passes; its rank is LLaMA-Factory's default.
RECIPES = {
    "proposer": {"rank": 16, "alpha": 64, "rate": 1.5e-5, "epochs": 3.0, "length": 2048},
    "keywords": {"rank": 8, "alpha": 16, "rate": 5e-5, "epochs": 2.0, "length": 512},
}
KEYS = {"sft": ("prompt", "completion"), "dpo": ("prompt", "chosen", "rejected")}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path, help="folder with train.jsonl and heldout.jsonl")
    parser.add_argument("--base", required=True, help="model to be trained: a folder or a name of the hub")
    parser.add_argument("--out", type=Path, required=True, help="new folder for the adapter")
    parser.add_argument("--kind", choices=KEYS, default="sft")
    parser.add_argument("--recipe", choices=RECIPES, default="proposer")
    parser.add_argument("--rank", type=int)
    parser.add_argument("--alpha", type=int)
    parser.add_argument("--rate", type=float, help="learning rate")
    parser.add_argument("--epochs", type=float)
    parser.add_argument("--length", type=int, help="longest example in tokens; longer ones are left out")
    parser.add_argument("--batch", type=int, default=8, help="examples a step")
    parser.add_argument("--steps", type=int, default=-1, help="at most this number of steps")
    parser.add_argument("--save-steps", type=int, default=100, metavar="N",
                        help="write a checkpoint every N steps, and after each epoch [default: 100]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cpu", action="store_true", help="do not use a GPU")
    given = parser.parse_args()
    for name, value in RECIPES[given.recipe].items():
        if getattr(given, name) is None:
            setattr(given, name, value)
    if given.save_steps < 1:
        fail(f"--save-steps is {given.save_steps}", "give at least 1")
    return given


def examples(file, kind):
    """The lines of a file, checked: a wrong format would otherwise fail deep inside the trainer."""
    if not file.is_file():
        fail(f"{file} does not exist", "give the folder that `halma train` wrote with --format trl")
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        fail(f"`{file}` cannot be read: {error}", "make the folder again with `halma train`")
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            example = json.loads(line)
        except ValueError as error:
            fail(f"{file}:{number}: {error}", "make the file again with `halma train`")
        keys = list(example) if isinstance(example, dict) else ["(none)"]
        if sorted(keys) != sorted(KEYS[kind]):
            fail(
                f"{file}:{number}: it has the keys {', '.join(keys)}, not {', '.join(KEYS[kind])}",
                f"make the folder with `--format trl --kind {kind}`",
            )
        found.append(example)
    return found


# Rows of each matrix that are hashed.
ROWS = 4


def weights_of(model):
    """Names the weights of a model by a few rows of all its matrices: LoRA changes linear layers only,
    so a merged model differs there, and there alone, from its base. In bfloat16, so that the precision
    in which they were loaded does not matter."""
    digest = hashlib.sha256()
    for name, weight in sorted(model.named_parameters()):
        if weight.dim() < 2:
            continue
        digest.update(f"{name} {tuple(weight.shape)}".encode())
        # The experts of a layer are one weight of three dimensions.
        weight = weight.detach().reshape(-1, weight.shape[-1])
        last = weight.shape[0] - 1
        rows = weight[[last * at // (ROWS - 1) for at in range(ROWS)]].to("cpu")
        digest.update(rows.bfloat16().float().numpy().tobytes())
    return digest.hexdigest()[:16]


def load(given):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(given.base)
        cuda = torch.cuda.is_available() and not given.cpu
        model = AutoModelForCausalLM.from_pretrained(
            given.base, dtype=torch.bfloat16 if cuda else torch.float32
        )
    except (OSError, ValueError) as error:
        fail(f"{given.base} cannot be loaded: {error}", "give a folder with a model, or its name on the hub")
    if tokenizer.chat_template is None:
        fail(
            f"{given.base} has no chat template",
            "train a model that was tuned for chat (its name often ends in -Instruct)",
        )
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer, model, cuda


def fitting(found, tokenizer, given):
    """Leaves out what is longer than the limit: cut off, it would teach replies without an end."""

    def length(example):
        reply = example.get("completion") or max(
            example["chosen"], example["rejected"], key=lambda m: len(m[0]["content"])
        )
        text = tokenizer.apply_chat_template(example["prompt"] + reply, tokenize=False)
        return len(tokenizer(text, add_special_tokens=False)["input_ids"])

    kept = [example for example in found if length(example) <= given.length]
    if len(kept) < len(found):
        print(f"{len(found) - len(kept)} examples of more than {given.length} tokens are left out")
    return kept


def trainer(given, tokenizer, model, cuda, train, heldout):
    from datasets import Dataset
    from peft import LoraConfig
    from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

    lora = LoraConfig(
        r=given.rank, lora_alpha=given.alpha, target_modules="all-linear", task_type="CAUSAL_LM"
    )
    common = {
        "output_dir": str(given.out / CHECKPOINTS),
        "learning_rate": given.rate,
        "num_train_epochs": given.epochs,
        "max_steps": given.steps,
        "per_device_train_batch_size": given.batch,
        "seed": given.seed,
        "bf16": cuda,
        "use_cpu": not cuda,
        "gradient_checkpointing": cuda,
        "max_length": given.length,
        "logging_steps": 1 if len(train) < 1000 else 10,
        "save_strategy": "epoch",
        "save_total_limit": 1,
        "eval_strategy": "epoch" if heldout else "no",
        "report_to": "none",
        "disable_tqdm": not sys.stderr.isatty(),
    }
    kind, config = (
        (SFTTrainer, SFTConfig(completion_only_loss=True, **common))
        if given.kind == "sft"
        else (DPOTrainer, DPOConfig(**common))
    )
    return kind(
        model=model,
        args=config,
        train_dataset=Dataset.from_list(train),
        eval_dataset=Dataset.from_list(heldout) if heldout else None,
        processing_class=tokenizer,
        peft_config=lora,
        callbacks=[resume.saving_every(given.save_steps)],
    )


def description(given, weights, examples, history):
    """What the adapter was trained on. `history` is of the whole training, whether resumed or not."""
    losses = [entry["loss"] for entry in history if "loss" in entry]
    statistics = given.data / "statistics.json"
    return {
        "base": given.base,
        "weights": weights,
        "kind": given.kind,
        "examples": examples,
        "rank": given.rank,
        "alpha": given.alpha,
        "rate": given.rate,
        "seed": given.seed,
        "loss": [losses[0], losses[-1]] if losses else [],
        "heldout_loss": [entry["eval_loss"] for entry in history if "eval_loss" in entry],
        "statistics": json.loads(statistics.read_text("utf-8")) if statistics.is_file() else None,
    }


def main():
    given = arguments()
    train = examples(given.data / "train.jsonl", given.kind)
    heldout = given.data / "heldout.jsonl"
    heldout = examples(heldout, given.kind) if heldout.is_file() else []
    if not train:
        fail(f"{given.data / 'train.jsonl'} is empty", "collect more questions")
    resume.check(given)
    from transformers import set_seed

    set_seed(given.seed)
    tokenizer, model, cuda = load(given)
    weights = weights_of(model)
    train, heldout = (fitting(found, tokenizer, given) for found in (train, heldout))
    if not train:
        fail("no example is short enough", "give a larger --length")
    print(f"{len(train)} examples on {'the GPU' if cuda else 'the CPU'}")
    checkpoint = resume.begin(given, weights)
    training = trainer(given, tokenizer, model, cuda, train, heldout)
    training.train(resume_from_checkpoint=checkpoint)
    training.save_model(str(given.out))
    tokenizer.save_pretrained(str(given.out))
    about = description(given, weights, len(train), training.state.log_history)
    resume.write(given.out / ABOUT, about)
    resume.finish(given.out)
    if about["loss"]:
        print("loss {:.3f} -> {:.3f}".format(*about["loss"]))
    print(f"Adapter: {given.out}\nNext: uv run train/merge.py {given.out} --out MODEL")


if __name__ == "__main__":
    main()
