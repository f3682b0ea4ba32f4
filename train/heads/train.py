# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.15.0", "safetensors==0.8.0", "tokenizers==0.23.3", "numpy==2.4.6"]
# ///
"""Trains the heads and the six layers below them on the examples of data.py.

    uv run train/heads/train.py work/data --base FOLDER --out work/checkpoint.pt --minutes 60

Every few minutes the state is written to --out; the same command resumes from it after a kill. The
learning rate falls to zero over --epochs passes of the examples, or over --minutes, whichever is
shorter. A GPU is used where there is one. Matrices are multiplied in bfloat16 where the processor
has instructions for it (--precision).
"""

import argparse
import functools
import hashlib
import multiprocessing
import pickle
import random
import time
from pathlib import Path

import torch
from torch.nn import functional

from bert import BASE, KINDS, Base, batch, encode, fail, read_lines

# Padded tokens of one step on a processor and on a GPU; an example counts as at least this many.
TOKENS, GPU_TOKENS, SHORTEST = 1536, 16_384, 64
# The layers learn slowly, the heads start from nothing.
RATE, HEAD_RATE, WARM_UP = 2e-4, 1e-3, 0.06
KIND_SHARE, RELEVANCE_SHARE, KEYWORD_SHARE = 0.3, 0.5, 0.5
# A step of keywords after this number of steps of pairs.
KEYWORDS_EVERY = 12
CHECKPOINT_SECONDS = 300
# Of what each block adds, while training.
DROPOUT = 0.1


def token_span(places, span):
    """First and last token of a range of characters, or None where it was cut off."""
    segment, start, end = span
    held = [at for at, place in enumerate(places)
            if place and place[0] == segment and place[1] < end and place[2] > start]
    return (held[0], held[-1]) if held and places[held[-1]][2] >= end else None


def prepare(tokenizer, record):
    ids, types, places = encode(tokenizer, record["question"], record["passage"])
    spans = [span for one in record["spans"] if (span := token_span(places, one))]
    kind = record["kind"] if record["kind"] != "span" or spans else "none"
    return ids, types, spans or [(0, 0)], KINDS.index(kind), record["relevance"]


def prepare_keywords(tokenizer, record):
    ids, types, places = encode(tokenizer, record["question"])
    labels = [float(any(place and place[1] < end and place[2] > start
                        for start, end in record["keywords"])) for place in places]
    return ids, types, labels


def prepared(base, records, workers):
    """Each record by prepare(), in several processes."""
    if workers < 2:
        return [prepare(base.tokenizer, one) for one in records]
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        return pool.map(functools.partial(prepare, base.tokenizer), records, chunksize=500)


def batches(examples, tokens, drawn):
    """Examples of about the same length together, in an order that `drawn` decides."""
    order = list(range(len(examples)))
    drawn.shuffle(order)
    made = []
    for chunk in range(0, len(order), tokens):
        part = sorted(order[chunk:chunk + tokens], key=lambda at: len(examples[at][0]))
        own = [[]]
        for at in part:
            if (len(own[-1]) + 1) * max(SHORTEST, len(examples[at][0])) > tokens:
                own.append([])
            own[-1].append(at)
        own = [one for one in own if one]
        drawn.shuffle(own)
        made += own
    return made


def span_loss(logits, spans, mask):
    """Minus the log of the probability of all right starts, and the same for ends."""
    right = torch.zeros(logits.shape, dtype=torch.bool)
    for row, own in enumerate(spans):
        for first, last in own:
            right[row, first, 0] = right[row, last, 1] = True
    logits = logits.masked_fill(~mask[:, :, None], -1e4).log_softmax(1)
    right = right.to(logits.device, non_blocking=True)
    return -logits.masked_fill(~right, -1e4).logsumexp(1).sum() / len(spans)


def has_bfloat16(device):
    """Whether `device` multiplies bfloat16 faster than float32."""
    if device == "cuda":
        return torch.cuda.is_bf16_supported()
    return torch.cpu.get_capabilities().get("amx_bf16", False)


class Computed:
    """The model on a device, in the precision of --precision; logits are float32."""

    def __init__(self, model, device, precision):
        self.model, self.device = model, device
        self.is_low = precision == "bf16" or precision == "auto" and has_bfloat16(device)

    def __call__(self, embedded, mask):
        with torch.autocast(self.device, torch.bfloat16, enabled=self.is_low):
            logits = self.model(embedded.to(self.device), mask.to(self.device))
        return {name: values.float() for name, values in logits.items()}


def pair_loss(model, base, examples, device):
    ids, types, mask = batch([(one[0], one[1]) for one in examples])
    logits = model(base.embeddings(ids, types), mask)
    kinds = torch.tensor([one[3] for one in examples], device=device)
    relevant = torch.tensor([float(one[4]) for one in examples], device=device)
    span = span_loss(logits["span"], [one[2] for one in examples], mask.to(device))
    kind = functional.cross_entropy(logits["kind"], kinds)
    relevance = functional.binary_cross_entropy_with_logits(logits["relevance"], relevant)
    return span + KIND_SHARE * kind + RELEVANCE_SHARE * relevance, span


def keyword_loss(model, base, examples, device):
    ids, types, mask = batch([(one[0], one[1]) for one in examples])
    labels = torch.zeros(ids.shape)
    for row, one in enumerate(examples):
        labels[row, : len(one[2])] = torch.tensor(one[2])
    logits = model(base.embeddings(ids, types), mask)["keyword"]
    loss = functional.binary_cross_entropy_with_logits(logits, labels.to(device), reduction="none")
    return KEYWORD_SHARE * loss[mask.to(device)].mean()


def optimizer_for(model, rate):
    heads = [p for name, p in model.named_parameters() if not name.startswith("encoder.")]
    layers = [p for name, p in model.named_parameters() if name.startswith("encoder.")]
    groups = [{"params": layers, "base_rate": rate}, {"params": heads, "base_rate": HEAD_RATE}]
    return torch.optim.AdamW(groups, lr=rate, weight_decay=0.01, fused=True)


def save(path, state):
    part = path.with_name(path.name + ".part")
    torch.save(state, part)
    part.replace(path)


def resume(path, state, model, optimizer):
    """Where the run that wrote `path` was: (step, seconds). The steps of a run with other values are
    other ones, so that it cannot be resumed."""
    if not path.is_file():
        return 0, 0.0
    try:
        held = torch.load(path, map_location="cpu", weights_only=True)
        differs = [f"another {name.split('_')[0]}" for name in ("base_hash", "data_hash")
                   if held[name] != state[name]]
        differs += [f"{name} {held['values'].get(name)}, not {value}"
                    for name, value in state["values"].items() if held["values"].get(name) != value]
    except (pickle.UnpicklingError, RuntimeError, EOFError, KeyError, TypeError):
        fail(f"`{path}` is not a checkpoint that this program can resume", "delete it or name another --out")
    if differs:
        fail(f"`{path}` is of a run with {', '.join(differs)}", "delete it or name another --out")
    model.load_state_dict(held["model"])
    optimizer.load_state_dict(held["optimizer"])
    print(f"resumes after step {held['step']}")
    return held["step"], held["seconds"]


def run(given, base, device):
    data = [given.data / f"{name}.jsonl" for name in ("train", "keywords")]
    records, words = (read_lines(file) for file in data)
    if not records or not words:
        fail(f"`{given.data}` has no examples", "make them with train/heads/data.py")
    torch.manual_seed(given.seed)
    model = base.heads().to(device)
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = given.dropout
    optimizer = optimizer_for(model, given.rate)
    computed = Computed(model, device, given.precision)
    tokens = GPU_TOKENS if device == "cuda" else TOKENS
    state = {"base_hash": base.hash,
             "data_hash": hashlib.sha256(b"".join(file.read_bytes() for file in data)).hexdigest(),
             "values": {"epochs": given.epochs, "rate": given.rate, "dropout": given.dropout,
                        "seed": given.seed, "tokens a step": tokens}}
    step, before = resume(given.out, state, model, optimizer)
    base.embeddings.to(device)
    examples = prepared(base, records, given.threads)
    keywords = [prepare_keywords(base.tokenizer, one) for one in words]
    drawn = random.Random(given.seed)
    steps = [batch for _ in range(given.epochs) for batch in batches(examples, tokens, drawn)]
    start, saved, sum_loss, count = time.time(), time.time(), 0.0, 0
    seen = sum(len(one) for one in steps[:step])
    print(f"{len(examples)} examples, {len(keywords)} questions with keywords, {len(steps)} steps",
          flush=True)
    done = step / len(steps)
    while step < len(steps) and done < 1:
        elapsed = before + time.time() - start
        done = max(step / len(steps), elapsed / (60 * given.minutes) if given.minutes else 0)
        for group in optimizer.param_groups:
            group["lr"] = group["base_rate"] * min(done / WARM_UP + 1e-3, max(0.0, 1 - done) / (1 - WARM_UP))
        loss, span = pair_loss(computed, base, [examples[at] for at in steps[step]], device)
        if step % KEYWORDS_EVERY == 0:
            own = random.Random(step).sample(keywords, min(48, len(keywords)))
            loss = loss + keyword_loss(computed, base, own, device)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        seen += len(steps[step])
        step += 1
        sum_loss, count = sum_loss + span.detach(), count + 1
        last = step == len(steps) or done >= 1
        if count == 50 or step == 10 or last:
            print(f"step {step}: span loss {float(sum_loss) / count:.3f}, {seen} examples, "
                  f"{elapsed:.0f} s, {100 * done:.0f} %", flush=True)
            sum_loss, count = 0.0, 0
        if time.time() - saved > CHECKPOINT_SECONDS or last:
            saved = time.time()
            state["trained"] = {"examples": seen, "seconds": round(elapsed), "seed": given.seed,
                                "data_sha256": state["data_hash"], "progress": round(min(done, 1.0), 3)}
            save(given.out, {**state, "model": model.state_dict(), "optimizer": optimizer.state_dict(),
                             "step": step, "seconds": elapsed})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path, help="folder that data.py wrote")
    parser.add_argument("--base", type=Path, required=True, help=f"folder of {BASE}")
    parser.add_argument("--out", type=Path, required=True, help="checkpoint; resumed where it exists")
    parser.add_argument("--minutes", type=float, help="at most this long")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--precision", choices=["auto", "bf16", "f32"], default="auto")
    parser.add_argument("--rate", type=float, default=RATE, help="of the layers (default: %(default)s)")
    parser.add_argument("--dropout", type=float, default=DROPOUT)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--any-base", action="store_true", help="take a base of another hash (tests)")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    base = Base(given.base, None) if given.any_base else Base(given.base)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    run(given, base, device)


if __name__ == "__main__":
    main()
