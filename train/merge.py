# /// script
# requires-python = ">=3.10"
# dependencies = [
#     "torch==2.15.0",
#     "transformers==5.23.0",
#     "peft==0.21.2",
#     "accelerate==1.15.0",
# ]
# ///
"""Merges a LoRA adapter into its base model, so that any server can serve it.

    uv run train/merge.py adapter --out model

The base is the one that the adapter was trained on. An adapter of another base is refused; so is one
that was trained on a merged model and is given the base of that, and the reverse.
"""

import argparse
import json
import sys
from pathlib import Path

from lora import weights_of
from resume import ABOUT, RUN, fail


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("adapter", type=Path, help="folder that lora.py wrote")
    parser.add_argument("--out", type=Path, required=True, help="new folder for the model")
    parser.add_argument("--base", help="where the base model is now [default: where it was]")
    given = parser.parse_args()
    file = given.adapter / ABOUT
    if (given.adapter / RUN).is_file() and not file.is_file():
        fail(f"the training of {given.adapter} is not finished",
             "give lora.py the same command again, which resumes it")
    if not (given.adapter / "adapter_config.json").is_file():
        fail(f"{given.adapter} holds no adapter", "give the folder that lora.py wrote")
    if given.out.exists() and any(given.out.iterdir()):
        fail(f"{given.out} is not empty", "give another --out, or remove the folder")
    about = read_about(file)
    named = json.loads((given.adapter / "adapter_config.json").read_text("utf-8"))
    base = given.base or named.get("base_model_name_or_path") or about.get("base")
    merge(given, base, about)
    print(f"Model: {given.out}\nNext: uv run train/serve.py {given.out}")


def read_about(file):
    """What lora.py wrote about the adapter; nothing of one that another program made."""
    if not file.is_file():
        print(f"warning: there is no {file}: whether the adapter is one for the base is not checked",
              file=sys.stderr)
        return {}
    about = json.loads(file.read_text("utf-8"))
    if "weights" not in about:
        fail(f"{file} does not say on which weights the adapter was trained",
             "train the adapter again: an earlier lora.py wrote it")
    return about


def merge(given, base, about):
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    hint = f"the adapter was trained on {about.get('base', 'another model')}; give it as --base"
    try:
        model = AutoModelForCausalLM.from_pretrained(base, dtype="auto")
    except (OSError, ValueError) as error:
        fail(f"{base} cannot be loaded: {error}", hint)
    if about.get("weights") not in (None, weights_of(model)):
        fail(f"{given.adapter} is not an adapter for {base}: the weights differ", hint)
    try:
        model = PeftModel.from_pretrained(model, str(given.adapter))
    except (RuntimeError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        fail(f"{given.adapter} does not fit {base}: {reason}", hint)
    model.merge_and_unload().save_pretrained(str(given.out))
    AutoTokenizer.from_pretrained(str(given.adapter)).save_pretrained(str(given.out))


if __name__ == "__main__":
    sys.exit(main())
