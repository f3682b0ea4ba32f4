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

The base is the one that the adapter was trained on; an adapter of another base is refused.
"""

import argparse
import json
import sys
from pathlib import Path

from lora import fail, identity


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("adapter", type=Path, help="folder that lora.py wrote")
    parser.add_argument("--out", type=Path, required=True, help="new folder for the model")
    parser.add_argument("--base", help="where the base model is now [default: where it was]")
    given = parser.parse_args()
    if not (given.adapter / "adapter_config.json").is_file():
        fail(f"{given.adapter} holds no adapter", "give the folder that lora.py wrote")
    if given.out.exists() and any(given.out.iterdir()):
        fail(f"{given.out} is not empty", "give another --out, or remove the folder")
    about = given.adapter / "halma.json"
    about = json.loads(about.read_text("utf-8")) if about.is_file() else {}
    named = json.loads((given.adapter / "adapter_config.json").read_text("utf-8"))
    base = given.base or named.get("base_model_name_or_path") or about.get("base")
    merge(given, base, about)
    print(f"Model: {given.out}\nNext: uv run train/serve.py {given.out}")


def merge(given, base, about):
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    hint = f"the adapter was trained on {about.get('base', 'another model')}; give it as --base"
    try:
        model = AutoModelForCausalLM.from_pretrained(base, dtype="auto")
    except (OSError, ValueError) as error:
        fail(f"{base} cannot be loaded: {error}", hint)
    if about.get("identity") not in (None, identity(model)):
        fail(f"{given.adapter} is not an adapter for {base}", hint)
    try:
        model = PeftModel.from_pretrained(model, str(given.adapter))
    except (RuntimeError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        fail(f"{given.adapter} does not fit {base}: {reason}", hint)
    model.merge_and_unload().save_pretrained(str(given.out))
    AutoTokenizer.from_pretrained(str(given.adapter)).save_pretrained(str(given.out))


if __name__ == "__main__":
    sys.exit(main())
