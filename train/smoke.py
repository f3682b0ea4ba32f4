"""Tests the scripts of this folder from end to end on a model that is made here; `make train-smoke`
runs it with the pairs of the demo.

    python train/smoke.py PAIRS WORK base       makes 200 pairs after the layout of PAIRS, and a base
    python train/smoke.py PAIRS WORK masks      checks that only replies carry a gradient
    python train/smoke.py PAIRS WORK check      checks what lora.py left in WORK
    python train/smoke.py PAIRS WORK replies    checks that Halma reads what the model replied

The base is a Llama of two layers that has read texts of the same kind, and no reply of the pairs.
"""

import json
import random
import sys
from pathlib import Path

PAIRS = 200
NAMES = "Orla Venn,Tomas Brandt,Mira Solberg,Jonas Quill,Ada Thorn,Emil Hask,Lena Moor,Ivo Strand"
PLACES = "Varn,Oldbridge,Lenn,Tarr,Holm,Rusk,Elvik,Dorn"


def lines(file):
    return [json.loads(line) for line in file.read_text("utf-8").split("\n") if line.strip()]


def made_up(example, drawn):
    """A pair in the layout of a real one: the same instruction, another question."""
    system, user = (message["content"] for message in example["prompt"])
    head = user.partition("\n")[0]
    name, place = drawn.choice(NAMES.split(",")), drawn.choice(PLACES.split(","))
    question = f"Where was the builder of the bridge of {place} number {drawn.randrange(90)} born?"
    first, second = "Who is the builder of the bridge?", "Where was the builder born?"
    history = [(first, name), (second, place)][: drawn.randrange(3)]
    # The demo knows nothing of bridges.
    history = [(asked, drawn.choice([answer, "(no answer found)"])) for asked, answer in history]
    known = [f"{i}. {asked} {answer}" for i, (asked, answer) in enumerate(history, 1)]
    reply = {0: first, 1: second}.get(len(history))
    tags = (
        f"<decompose>True</decompose>\n<sub-question>{reply}</sub-question>"
        if reply
        else "<decompose>False</decompose>"
    )
    user = "\n\n".join([head, *(known or ["(none yet)"]), f"Question: {question}"])
    prompt = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    return {"prompt": prompt, "completion": [{"role": "assistant", "content": tags}]}


def rejected(example):
    """The same as a preference: stopping where more is needed, and the other way round."""
    chosen = example["completion"][0]["content"]
    other = (
        "<decompose>False</decompose>"
        if "True" in chosen
        else "<decompose>True</decompose>\n<sub-question>Who is it?</sub-question>"
    )
    return {
        "prompt": example["prompt"],
        "chosen": example["completion"],
        "rejected": [{"role": "assistant", "content": other}],
    }


def tokenizer(texts):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    special = ["<pad>", "<s>", "</s>", "<|system|>", "<|user|>", "<|assistant|>"]
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=1500, special_tokens=special, initial_alphabet=alphabet)
    made.train_from_iterator(texts, trainer)
    made = PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", bos_token="<s>", eos_token="</s>"
    )
    made.chat_template = (
        "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}</s>{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )
    return made


def base(pairs, work):
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(1)
    drawn = random.Random(1)
    real = lines(pairs / "train.jsonl")
    made = real + [made_up(real[0], drawn) for _ in range(PAIRS - len(real))]
    for name, examples in {"sft": made, "dpo": [rejected(one) for one in made[:24]]}.items():
        (work / name).mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(one) + "\n" for one in examples)
        (work / name / "train.jsonl").write_text(text, encoding="utf-8")
    # What the base has read: users' messages, and replies of a form of their own.
    user = [one["prompt"][-1]["content"] for one in made]
    chats = [
        [{"role": "user", "content": text}, {"role": "assistant", "content": text.split("\n")[-1]}]
        for text in user
    ]
    words = tokenizer([message["content"] for one in made for message in one["prompt"]]
                      + [one["completion"][0]["content"] for one in made])
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=len(words), hidden_size=128, intermediate_size=256, num_hidden_layers=2,
        num_attention_heads=4, initializer_range=0.1, max_position_embeddings=1024,
        pad_token_id=words.pad_token_id, bos_token_id=words.bos_token_id,
        eos_token_id=words.eos_token_id,
    ))
    texts = words.apply_chat_template(chats, tokenize=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(60):
        batch = words(drawn.sample(texts, 4), return_tensors="pt", padding=True)
        labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
        loss = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"],
                     labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"a base of {sum(p.numel() for p in model.parameters()):,} weights, loss {loss:.2f}")
    model.save_pretrained(work / "base")
    words.save_pretrained(work / "base")
    torch.manual_seed(2)
    LlamaForCausalLM(model.config).save_pretrained(work / "other")


def masks(_, work):
    """Changes the labels of the prompt: the loss and its gradient must stay as they are."""
    import torch

    from lora import trainer

    given = type("Given", (), {
        "out": work / "masks", "rate": 1e-3, "epochs": 1.0, "steps": 1, "batch": 4, "seed": 1,
        "length": 1024, "kind": "sft", "rank": 4, "alpha": 8, "save_steps": 100,
    })
    from transformers import AutoModelForCausalLM, AutoTokenizer

    words = AutoTokenizer.from_pretrained(work / "base")
    model = AutoModelForCausalLM.from_pretrained(work / "base")
    examples = lines(work / "sft" / "train.jsonl")[:8]
    training = trainer(given, words, model, False, examples, [])
    batch = next(iter(training.get_train_dataloader()))
    learned = batch["labels"] != -100
    text = words.decode(batch["input_ids"][learned])
    assert "decompose" in text and "Question:" not in text, text
    logits = training.model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
    logits.retain_grad()
    shifted = batch["labels"][:, 1:]
    loss = torch.nn.functional.cross_entropy(
        logits[:, :-1].reshape(-1, logits.shape[-1]), shifted.reshape(-1), ignore_index=-100
    )
    own = training.compute_loss(training.model, dict(batch))
    assert abs(own.item() - loss.item()) < 1e-3, (own, loss)
    loss.backward()
    strength = logits.grad.abs().sum(-1)[:, :-1]
    assert strength[shifted == -100].max() == 0 and strength[shifted != -100].min() > 0
    print(f"{int(learned.sum())} of {learned.numel()} tokens carry a gradient: the replies")


def check(_, work):
    sft = json.loads((work / "adapter" / "halma.json").read_text("utf-8"))
    first, last = sft["loss"]
    assert last < first / 2, f"the loss does not fall: {first} -> {last}"
    killed = json.loads((work / "killed.json").read_text("utf-8"))["log_history"][0]
    assert (killed["step"], killed["loss"]) == (1, first), f"the losses of the killed run are lost: {sft}"
    left = [name for name in ("checkpoints", "run.json") if (work / "adapter" / name).exists()]
    assert not left, f"a finished training leaves {left}"
    config = json.loads((work / "adapter" / "adapter_config.json").read_text("utf-8"))
    assert (config["r"], config["lora_alpha"]) == (16, 64), config
    dpo = json.loads((work / "preferred" / "halma.json").read_text("utf-8"))
    first, last = dpo["loss"]
    assert last < first, f"the loss of DPO does not fall: {first} -> {last}"
    print(f"loss {sft['loss'][0]:.2f} -> {sft['loss'][1]:.2f}; DPO {first:.2f} -> {last:.2f}")


def replies(_, work):
    """Reads the output of `halma ask --json` that the log holds."""
    text = (work / "log").read_text("utf-8")
    answered = json.loads(text[text.index("{"):text.rindex("}") + 1])
    calls = [event for event in answered["trace"] if event["event"] == "model_called"]
    asked = [event for event in calls if event["prompt"] == "kar3/decompose"]
    valid = [event for event in asked if event["status"] == "valid"]
    assert len(valid) >= 2, f"the replies of the proposer are not read: {asked}"
    print(f"{len(valid)} of {len(asked)} replies of the trained proposer are read by Halma")


def main():
    pairs, work = Path(sys.argv[1]), Path(sys.argv[2])
    for step in sys.argv[3:]:
        {"base": base, "masks": masks, "check": check, "replies": replies}[step](pairs, work)


if __name__ == "__main__":
    main()
