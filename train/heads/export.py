# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.15.0", "safetensors==0.8.0", "tokenizers==0.23.3", "numpy==2.4.6"]
# ///
"""Writes heads.safetensors, which the program reads: layers as 8-bit integers, heads as floats.

    uv run train/heads/export.py --base FOLDER --checkpoint work/checkpoint.pt --out heads.safetensors

Of several checkpoints the mean of the weights is written: runs from the same base that differ in seed,
rate and dropout answer better together than each alone (Wortsman et al., 2022). FORMAT describes the file. `--reference FILE` also writes what the exported (rounded) weights
reply to a few pairs, so that another runtime can be compared.
"""

import argparse
import json
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from bert import BASE, KINDS, MAX_LENGTH, MAX_QUESTION, Base, batch, encode, fail, passage_text

MOST_BYTES = 12_000_000
REFERENCE = [
    ("Who designed the lighthouse of Varn?", "Lighthouse of Varn",
     "The lighthouse of Varn was designed by Orla Venn in 1871. It stands on a rock."),
    ("Who designed the lighthouse of Varn?", "Tomas Brandt",
     "Tomas Brandt (born 3 May 1902) was a painter of harbours."),
    ("When was Tomas Brandt born?", "Tomas Brandt",
     "Tomas Brandt (born 3 May 1902) was a painter of harbours."),
    ("Which is older, the bridge of Tarr or the mill of Lenn?", "",
     "Bridge of Tarr. It was opened in 1810. Mill of Lenn. The mill was built in 1776."),
    ("Were Ada Thorn and Emil Hask both painters?", "Ada Thorn",
     "Ada Thorn was a painter from Holm. " + "She painted the same bay again and again. " * 40),
    ("Which towns of the valley does the river Rusk pass?", None, None),
]


def quantised(weight):
    """Symmetric, a scale for each row: weight = integer * scale."""
    scale = weight.abs().amax(1).clamp(min=1e-8) / 127
    return (weight / scale[:, None]).round().clamp(-127, 127).to(torch.int8), scale


def tensors(model):
    packed = {}
    for name, value in model.state_dict().items():
        value = value.detach().float().contiguous()
        if name.startswith("encoder.") and value.dim() == 2:
            packed[name], packed[f"{name}.scale"] = quantised(value)
        else:
            packed[name] = value
    return packed


def write(model, metadata, out):
    packed = tensors(model)
    described = {
        "format": "1", "base": BASE, "kinds": ",".join(KINDS),
        "max_length": str(MAX_LENGTH), "max_question": str(MAX_QUESTION),
        "passage": "title. text", **metadata,
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    part = out.with_name(out.name + ".part")
    save_file(packed, part, described)
    if part.stat().st_size > MOST_BYTES:
        part.unlink()
        fail(f"`{out}` would be larger than {MOST_BYTES:,} bytes", "the base has other layers")
    part.chmod(0o644)
    part.replace(out)


def read(file, base):
    """The model as the program sees it: weights back from integers."""
    with safe_open(file, "pt") as held:
        metadata = held.metadata() or {}
        if metadata.get("format") != "1":
            fail(f"`{file}` has format {metadata.get('format')}, not 1", "export it again")
        if metadata.get("base_hash") != base.hash:
            fail(f"`{file}` was trained on other weights of {BASE}",
                 "name the base that it was trained on, or train it again")
        names = set(held.keys())
        weights = {}
        for name in names:
            if name.endswith(".scale"):
                continue
            weights[name] = held.get_tensor(name).float()
            if f"{name}.scale" in names:
                weights[name] *= held.get_tensor(f"{name}.scale")[:, None]
    model = base.heads()
    left = model.load_state_dict(weights, strict=False)
    if left.unexpected_keys or any(name.startswith("encoder") for name in left.missing_keys):
        fail(f"`{file}` does not have the tensors of {BASE}", "export it again")
    return model.eval(), metadata, names


def reference(file, base):
    """Inputs and replies of the exported weights, in full precision otherwise."""
    model, _, names = read(file, base)
    made = []
    for question, title, text in REFERENCE:
        passage = None if text is None else passage_text(title, text)
        ids, types, _ = encode(base.tokenizer, question, passage)
        padded, segments, mask = batch([(ids, types)])
        with torch.no_grad():
            logits = model(base.embeddings(padded, segments), mask)
        made.append({
            "question": question, "title": title, "text": text, "ids": ids, "types": types,
            **{name: value[0].tolist() for name, value in logits.items()
               if f"{name}.weight" in names},
        })
    return made


def mean_of(checkpoints, base, model):
    """The mean of the weights of some checkpoints, and what they say of their training."""
    held = [torch.load(file, map_location="cpu", weights_only=True) for file in checkpoints]
    for file, one in zip(checkpoints, held):
        if one["base_hash"] != base.hash:
            fail(f"`{file}` was trained on other weights", "name its base")
    weights = [one["model"] for one in held]
    model.load_state_dict({name: sum(one[name] for one in weights) / len(weights) for name in weights[0]})
    trained = [one["trained"] for one in held]
    return model, json.dumps(trained[0] if len(trained) == 1 else trained, sort_keys=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--base", type=Path, required=True, help=f"folder of {BASE}")
    parser.add_argument("--checkpoint", type=Path, nargs="*", default=[],
                        help="of train.py; without it, untrained heads")
    parser.add_argument("--scores", type=Path, help="scores.json of score.py, with thresholds")
    parser.add_argument("--without", nargs="*", default=[], help="heads that are left out")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--reference", type=Path, help="also write inputs and replies to this file")
    parser.add_argument("--any-base", action="store_true", help="take a base of another hash (tests)")
    given = parser.parse_args()
    base = Base(given.base, None) if given.any_base else Base(given.base)
    torch.manual_seed(1)
    model = base.heads()
    metadata = {"base_hash": base.hash, "thresholds": "{}", "trained": "untrained"}
    if given.checkpoint:
        model, metadata["trained"] = mean_of(given.checkpoint, base, model)
    if given.scores:
        thresholds = json.loads(given.scores.read_text("utf-8"))["thresholds"]
        metadata["thresholds"] = json.dumps(thresholds, sort_keys=True)
    for head in given.without:
        delattr(model, head)
    write(model, metadata, given.out)
    print(f"{given.out}: {given.out.stat().st_size:,} bytes")
    if given.reference:
        part = given.reference.with_name(given.reference.name + ".part")
        lines = ",\n".join(json.dumps(one) for one in reference(given.out, base))
        part.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
        part.replace(given.reference)


if __name__ == "__main__":
    main()
