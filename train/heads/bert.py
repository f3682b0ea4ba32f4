"""The encoder all-MiniLM-L6-v2 with the heads on top, in plain PyTorch.

Its parameters have the names of Hugging Face's `BertModel`. The embeddings are the published ones
and are never trained: the program reads them from the embedder that it loads anyway. The six
layers start from the published ones and are trained.
"""

import hashlib
import json
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional

LAYERS, HIDDEN, ATTENTION_HEADS, INNER = 6, 384, 12, 1536
KINDS = ["span", "yes", "no", "none"]
BASE = "all-MiniLM-L6-v2"
# SHA-256 of the published model.safetensors: trained layers fit no other embeddings.
BASE_HASH = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MAX_LENGTH = 384
# A longer question is cut, so that there is room for the passage.
MAX_QUESTION = 64


def fail(message, hint):
    sys.exit(f"error: {message}\n hint: {hint}")


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(HIDDEN, HIDDEN) for _ in range(3))

    def forward(self, states, mask):
        batch, length, _ = states.shape
        query, key, value = (
            part(states).view(batch, length, ATTENTION_HEADS, -1).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        # Not scaled_dot_product_attention: on a CPU its backward pass in bfloat16 is slow.
        scores = query @ key.transpose(2, 3) / query.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e4)
        read = scores.softmax(-1).to(value.dtype) @ value
        return read.transpose(1, 2).reshape(batch, length, HIDDEN)


class Output(nn.Module):
    """A dense layer, the sum with what went in before, and the norm. Training sets `dropout`."""

    def __init__(self, width):
        super().__init__()
        self.dense = nn.Linear(width, HIDDEN)
        self.dropout = nn.Dropout(0.0)
        self.LayerNorm = nn.LayerNorm(HIDDEN, eps=1e-12)

    def forward(self, states, before):
        return self.LayerNorm(self.dropout(self.dense(states)) + before)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.ModuleDict({"self": SelfAttention(), "output": Output(HIDDEN)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(HIDDEN, INNER)})
        self.output = Output(INNER)

    def forward(self, states, mask):
        states = self.attention["output"](self.attention["self"](states, mask), states)
        inner = functional.gelu(self.intermediate["dense"](states))
        return self.output(inner, states)


class Heads(nn.Module):
    """Logits of every head. `span`, `keyword`: one row a token; `kind`, `relevance`: a pair."""

    def __init__(self, layers=LAYERS):
        super().__init__()
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(Layer() for _ in range(layers))})
        self.span = nn.Linear(HIDDEN, 2)
        self.kind = nn.Linear(HIDDEN, len(KINDS))
        self.relevance = nn.Linear(HIDDEN, 1)
        self.keyword = nn.Linear(HIDDEN, 1)
        for head in (self.span, self.kind, self.relevance, self.keyword):
            nn.init.normal_(head.weight, std=0.02)
            nn.init.zeros_(head.bias)

    def forward(self, embedded, mask):
        states = embedded
        allowed = None if mask.all() else mask[:, None, None, :]
        for layer in self.encoder["layer"]:
            states = layer(states, allowed)
        first = states[:, 0]
        return {
            "span": self.span(states),
            "kind": self.kind(first),
            "relevance": self.relevance(first).squeeze(-1),
            "keyword": self.keyword(states).squeeze(-1),
        }


class Embeddings:
    """Frozen: words, positions and segments, summed and normed."""

    def __init__(self, weights):
        self.words, self.positions, self.segments = (
            weights[f"embeddings.{name}_embeddings.weight"].float()
            for name in ("word", "position", "token_type")
        )
        self.norm = [weights[f"embeddings.LayerNorm.{name}"].float() for name in ("weight", "bias")]

    def to(self, device):
        self.words, self.positions, self.segments = (
            part.to(device) for part in (self.words, self.positions, self.segments))
        self.norm = [part.to(device) for part in self.norm]
        return self

    def __call__(self, ids, types):
        with torch.no_grad():
            ids, types = ids.to(self.words.device), types.to(self.words.device)
            summed = self.words[ids] + self.positions[: ids.shape[1]] + self.segments[types]
            return functional.layer_norm(summed, (HIDDEN,), *self.norm, eps=1e-12)


class Base:
    """The published model: its tokenizer, embeddings and layers."""

    def __init__(self, folder, expected=BASE_HASH):
        folder = Path(folder)
        weights = folder / "model.safetensors"
        for file in (weights, folder / "tokenizer.json"):
            if not file.is_file():
                fail(f"`{file}` is missing", f"name a folder with the files of {BASE}; "
                     "`halma doctor --fetch` gets them")
        self.hash = hashlib.sha256(weights.read_bytes()).hexdigest()
        if expected and self.hash != expected:
            fail(f"`{weights}` is not the published {BASE}: its SHA-256 is {self.hash}",
                 "`halma doctor --fetch` gets the published one")
        loaded = load_file(weights)
        self.layers = {k: v.float() for k, v in loaded.items() if k.startswith("encoder.layer.")}
        self.embeddings = Embeddings(loaded)
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()

    def heads(self):
        """Untrained heads on the published layers."""
        depth = 1 + max(int(name.split(".")[2]) for name in self.layers)
        model = Heads(depth)
        left = model.load_state_dict(self.layers, strict=False).missing_keys
        if wrong := [name for name in left if name.startswith("encoder.")]:
            fail(f"the base has no `{wrong[0]}`", f"use the weights of {BASE}")
        return model


def passage_text(title, text):
    """How a passage is put to the model: its title, a full stop, its text."""
    title, text = title.strip(), text.strip()
    return f"{title}. {text}" if title else text


def encode(tokenizer, question, passage=None):
    """Ids, segments, and the characters of each token as (segment, start, end)."""
    first = tokenizer.encode(question.strip(), add_special_tokens=False)
    start, stop = (tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]"))
    cut = MAX_QUESTION if passage is not None else MAX_LENGTH - 2
    ids = [start, *first.ids[:cut], stop]
    places = [None, *((0, a, b) for a, b in first.offsets[:cut]), None]
    types = [0] * len(ids)
    if passage is not None:
        second = tokenizer.encode(passage, add_special_tokens=False)
        room = MAX_LENGTH - len(ids) - 1
        ids += [*second.ids[:room], stop]
        places += [*((1, a, b) for a, b in second.offsets[:room]), None]
        types += [1] * (len(ids) - len(types))
    return ids, types, places


def batch(encoded):
    """Ids, segments and mask of pairs, padded to the longest."""
    longest = max(len(ids) for ids, _ in encoded)
    ids = torch.zeros(len(encoded), longest, dtype=torch.long)
    types = torch.zeros_like(ids)
    mask = torch.zeros_like(ids, dtype=torch.bool)
    for row, (own_ids, own_types) in enumerate(encoded):
        ids[row, : len(own_ids)] = torch.tensor(own_ids)
        types[row, : len(own_types)] = torch.tensor(own_types)
        mask[row, : len(own_ids)] = True
    return ids, types, mask


def read_lines(file):
    """JSON lines, whatever their line ends, with or without a byte order mark. A bad line is an error
    that names it."""
    try:
        text = Path(file).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        fail(f"`{file}` cannot be read: {reason}", "make it with train/heads/data.py")
    records = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                records.append(json.loads(line))
            except ValueError:
                fail(f"`{file}`, line {number}: not JSON", "delete the line or make the file again")
    return records
