"""Tests the scripts of this folder from end to end on made-up data and a base of one layer that is
made here; `make train-smoke` runs it, in a minute.

    python train/heads/smoke.py WORK
"""

import json
import random
import subprocess
import sys
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

FOLDER = Path(__file__).parent
FIRST = "Orla Tomas Mira Jonas Ada Emil Lena Ivo Runa Pavel".split()
LAST = "Venn Brandt Solberg Quill Thorn Hask Moor Strand Lisk Dorn".split()
PLACES = "Varn Oldbridge Lenn Tarr Holm Rusk Elvik Norrby".split()
SETS = ["squadshifts_new_wiki", "nq", "qed", "policyqa", "squadshifts_amazon", "squadshifts_reddit"]


def people(drawn):
    """Title, text, place and year of birth."""
    made = []
    for first in FIRST:
        for last in LAST:
            place, year = drawn.choice(PLACES), drawn.randrange(1800, 1990)
            text = f"{first} {last} (born {drawn.randrange(1, 29)} May {year}) was a Danish painter. " \
                   f"{first} {last} was born in {place}."
            made.append((f"{first} {last}", text, place, year))
    drawn.shuffle(made)
    return made


def wiki(drawn, number):
    """Records of HotpotQA's and 2Wiki's layout."""
    records = []
    for at in range(number):
        held = people(drawn)[:6]
        (one, _, place, year), (other, _, _, later) = held[:2]
        compared = at % 2 == 1
        records.append({
            "_id": f"{number}-{at}", "type": "comparison" if compared else "compositional",
            "question": f"Who was born first, {one} or {other}?" if compared
            else f"Where was the painter {one} born?",
            "answer": (one if year <= later else other) if compared else place,
            "context": [[name, [text]] for name, text, *_ in held],
            "supporting_facts": [[one, 0], [other, 0]] if compared else [[one, 0]],
            "evidences": [[one, "place of birth", place]],
        })
    return records


def musique(drawn, number):
    records = []
    for at in range(number):
        held = people(drawn)[:6]
        (one, _, place, _), second = held[0], f"Mayor of {held[0][2]}"
        paragraphs = [{"title": name, "paragraph_text": text, "is_supporting": at == 0}
                      for at, (name, text, *_) in enumerate(held)]
        paragraphs.append({"title": second, "paragraph_text": f"The mayor of {place} is Bo Lind.",
                           "is_supporting": True})
        records.append({
            "id": f"m{at}", "question": f"Who is the mayor of the birthplace of {one}?",
            "answer": "Bo Lind", "paragraphs": paragraphs, "question_decomposition": [
                {"question": f"{one} >> place of birth", "answer": place, "paragraph_support_idx": 0},
                {"question": "Who is the mayor of #1?", "answer": "Bo Lind", "paragraph_support_idx": 6},
            ]})
    return records


def made_up(data):
    """The public files in small, with what bad files have: see `counted`."""
    drawn = random.Random(1)
    (data / "training").mkdir(parents=True, exist_ok=True)
    paragraphs = [{"context": text, "qas": [{"question": f"Where was {name} born?", "answers": [{"text": place}]}]}
                  for name, text, place, _ in people(drawn)[:40]]
    bad = [("Who?", ""), ("Where did it rain?", "nowhere"), ("Where did it rain?", "nowhere")]
    paragraphs[0]["qas"] += [{"question": q, "answers": [{"text": a}] if a else []} for q, a in bad]
    squad = {"data": [{"title": "People", "paragraphs": paragraphs}]}
    written = {"training/xquad.en.json": squad, "hotpotqa_train.json": wiki(drawn, 15),
               "2wiki_train.json": wiki(drawn, 15), "musique_train100.json": musique(drawn, 8)}
    for name, held in written.items():
        # Windows line ends and a byte order mark.
        (data / name).write_bytes(b"\xef\xbb\xbf" + json.dumps(held, indent=0).replace("\n", "\r\n").encode())
    texts = [json.dumps(held) for held in written.values()]
    return [text.replace('"', " ") for text in texts]


def base(folder, texts, seed):
    """A tokenizer of whole words and random weights of BERT's layout, one layer."""
    folder.mkdir(parents=True, exist_ok=True)
    words = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    words.normalizer = normalizers.BertNormalizer(lowercase=True)
    words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    words.train_from_iterator(texts, trainers.WordPieceTrainer(
        vocab_size=900, special_tokens=special, show_progress=False))
    words.save(str(folder / "tokenizer.json"))
    from bert import HIDDEN, Heads

    torch.manual_seed(seed)
    weights = {k: v for k, v in Heads(1).state_dict().items() if k.startswith("encoder.")}
    for name, rows in (("word", words.get_vocab_size()), ("position", 512), ("token_type", 2)):
        weights[f"embeddings.{name}_embeddings.weight"] = torch.randn(rows, HIDDEN)
    weights["embeddings.LayerNorm.weight"] = torch.ones(HIDDEN)
    weights["embeddings.LayerNorm.bias"] = torch.zeros(HIDDEN)
    save_file(weights, folder / "model.safetensors")


def language_model(folder, texts):
    """A Llama of one layer that has learned nothing, with a tokenizer of whole words."""
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    words.train_from_iterator(texts, trainers.WordPieceTrainer(
        vocab_size=600, special_tokens=["[END]", "[UNK]"], show_progress=False))
    PreTrainedTokenizerFast(tokenizer_object=words, eos_token="[END]", pad_token="[END]",
                            unk_token="[UNK]").save_pretrained(folder)
    torch.manual_seed(1)
    LlamaForCausalLM(LlamaConfig(
        vocab_size=words.get_vocab_size(), hidden_size=32, intermediate_size=64, num_hidden_layers=1,
        num_attention_heads=2, max_position_embeddings=1024, eos_token_id=0, pad_token_id=0,
        bos_token_id=None, tie_word_embeddings=True)).save_pretrained(folder)


def made_questions(work, texts, none):
    """Questions by a language model: the whole path, and what is kept of replies."""
    from generate import parsed

    folder = work / "questions"
    counts = script("questions.py", work / "data", "--out", folder, "--most", *none)
    assert "examples" in counts and " 0 questions" not in counts, counts
    asked = [json.loads(line) for line in (folder / "passages.jsonl").read_text("utf-8").split("\n") if line]
    # A few, so that it takes seconds.
    (folder / "passages.jsonl").write_text("".join(json.dumps(one) + "\n" for one in asked[:3]), "utf-8")
    language_model(work / "language", texts)
    making = ["generate.py", folder, "--out", work / "none.jsonl", "--epochs", 1, "--train-seconds", 20]
    assert "questions kept" in script(*making, "--model", work / "language")
    script(*making, "--model", work / "data", error="has no model")
    one = next(one for one in asked if "was born in " in one["passages"][0][1])
    title, text = one["passages"][0]
    place = text.rsplit(" ", 1)[1].strip(".")
    good = f" {place} | Where was the painter {title} born?"
    kept = parsed(one, good)
    assert kept and kept["answer"] == place and kept["question"].endswith("born?"), kept
    for bad in (None, "", place, f"nowhere | Where was {title} really born?", f"{place} | Born", f" | Where is {title} now?",
                f"{place} | Was the painter born in {place}?"):
        assert parsed(one, bad) is None, bad
    file = work / "made.jsonl"
    file.write_bytes((json.dumps(kept) + "\r\n").encode())
    return file


def script(name, *arguments, error=None):
    """Runs a script. With `error`, it must fail with a message that has this."""
    command = [sys.executable, str(FOLDER / name), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if error:
        assert done.returncode and error in done.stderr and "Traceback" not in done.stderr, done.stderr
    else:
        assert done.returncode == 0, done.stderr
    return done.stdout


def main():
    work = Path(sys.argv[1])
    texts = made_up(work / "data")
    base(work / "base", texts, 1)
    base(work / "other", texts, 2)
    none = [f"{name}=0" for name in SETS]
    made = script("data.py", work / "data", "--out", work / "made", "--most", *none)
    counts = json.loads(made)["left out"]
    assert counts["empty answers"] == 1 and counts["duplicate questions"] >= 1, counts
    assert counts["answers that are not in the text"] >= 1, counts
    first = (work / "made" / "train.jsonl").read_bytes()
    script("data.py", work / "data", "--out", work / "made", "--most", *none)
    assert (work / "made" / "train.jsonl").read_bytes() == first, "two runs differ"
    script("data.py", work / "data", "--out", work / "new", error="squadshifts_new_wiki")
    file = made_questions(work, texts, none)
    made = script("data.py", work / "data", "--out", work / "more", "--made", file, "--most", *none)
    assert json.loads(made)["train"]["made span"] == 1, made

    script("train.py", work / "made", "--base", work / "base", "--out", work / "x.pt",
           error="is not the published")
    train = ["train.py", work / "made", "--base", work / "base", "--out", work / "checkpoint.pt",
             "--any-base", "--epochs", 4]
    losses = [float(line.split("loss ")[1].split(",")[0]) for line in script(*train).split("\n")
              if "span loss" in line]
    assert losses[-1] < 0.9 * losses[0], f"the loss does not fall: {losses}"
    assert "resumes after step" in script(*train), "a finished run starts again"
    script(*train[:3], work / "other", *train[4:], error="another base")
    script(*train, "--seed", 2, error="seed 1, not 2")

    out = ["--out", work / "heads.safetensors", "--any-base"]
    export = ["export.py", "--base", work / "base", "--checkpoint", work / "checkpoint.pt", *out]
    # The mean of a run with itself is that run.
    script(*export[:4], work / "checkpoint.pt", *export[4:])
    twice = (work / "heads.safetensors").read_bytes()[-4000:]
    script(*export, "--reference", work / "reference.json")
    assert (work / "heads.safetensors").read_bytes()[-4000:] == twice, "a mean differs from its parts"
    score = ["score.py", work / "made", "--heads", work / "heads.safetensors", "--few", 5,
             "--out", work / "scores.json", "--any-base"]
    script(*score, "--base", work / "base")
    script(*export, "--scores", work / "scores.json", "--without", "relevance")
    script(*score, "--base", work / "other", error="trained on other weights")
    with safe_open(work / "heads.safetensors", "pt") as held:
        thresholds = json.loads(held.metadata()["thresholds"])
        assert {"yes_no", "margin", "keyword"} <= set(thresholds), thresholds
        assert "relevance.weight" not in held.keys() and "span.weight" in held.keys()
    print(f"heads: span loss {losses[0]:.2f} -> {losses[-1]:.2f}, exported and scored; another base is refused")


if __name__ == "__main__":
    main()
