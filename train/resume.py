"""What lets a training resume from its last checkpoint after a kill, if nothing of it has changed."""

import hashlib
import json
import shutil
import sys
import zipfile

RUN, ABOUT, CHECKPOINTS = "run.json", "halma.json", "checkpoints"
# What a training depends on, next to its data and the weights of its base.
FLAGS = ("base", "kind", "rank", "alpha", "rate", "epochs", "length", "batch", "steps", "seed")
CHANGED = {"data": "train.jsonl has changed", "weights": "the weights of the base have changed"}


def fail(message, hint):
    sys.exit(f"error: {message}\n hint: {hint}")


def write(file, value):
    draft = file.with_suffix(".draft")
    draft.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    draft.replace(file)


def values(given, **more):
    data = hashlib.sha256((given.data / "train.jsonl").read_bytes()).hexdigest()
    return {**{flag: getattr(given, flag) for flag in FLAGS}, "data": data, **more}


def check(given, **more):
    """Refuses an --out that holds anything but an interrupted training of the same values. `more` is
    what is known once the base is loaded."""
    file = given.out / RUN
    if file.is_file() and (given.out / ABOUT).is_file():
        # The training was finished, and a kill came before this.
        finish(given.out)
    if not file.is_file():
        if given.out.is_file() or given.out.is_dir() and any(given.out.iterdir()):
            fail(f"`{given.out}` is not an empty folder", "give another --out, or remove it")
        return
    try:
        earlier = json.loads(file.read_text("utf-8"))
    except ValueError as error:
        fail(f"`{file}` cannot be read: {error}", f"remove `{given.out}`, or give another --out")
    now = values(given, **more)
    differs = [CHANGED.get(key) or f"{key} was {earlier.get(key)} and is {now[key]}"
               for key in now if earlier.get(key) != now[key]]
    if differs:
        fail(f"`{given.out}` holds an interrupted training with other values: {'; '.join(differs)}",
             "to resume it, give its values; for a new one, give another --out or remove the folder")


def begin(given, weights):
    """The checkpoint from which the training resumes; None for a new one, which is written down."""
    check(given, weights=weights)
    given.out.mkdir(parents=True, exist_ok=True)
    write(given.out / RUN, values(given, weights=weights))
    return last(given.out / CHECKPOINTS)


def last(folder):
    """The newest complete checkpoint. Those that a kill has left incomplete are removed."""
    for checkpoint in sorted(folder.glob("checkpoint-*"), key=step, reverse=True):
        if is_complete(checkpoint):
            print(f"resumes after step {step(checkpoint)}", flush=True)
            return str(checkpoint)
        print(f"removes `{checkpoint}`, which is incomplete", flush=True)
        shutil.rmtree(checkpoint)
    return None


def step(checkpoint):
    number = checkpoint.name.rpartition("-")[2]
    return int(number) if number.isdigit() else -1


def is_complete(checkpoint):
    """Its state is written last; the lengths of the other files are checked in case the machine, and
    not only the program, went down."""
    from safetensors import SafetensorError, safe_open

    try:
        json.loads((checkpoint / "trainer_state.json").read_text("utf-8"))
        with safe_open(checkpoint / "adapter_model.safetensors", "pt"):
            return zipfile.is_zipfile(checkpoint / "optimizer.pt")
    except (OSError, ValueError, SafetensorError):
        return False


def saving_every(steps):
    """Makes the trainer, which saves after each epoch, also save every `steps` steps. Not at the last
    step of an epoch: written twice, the only checkpoint would be incomplete for a moment."""
    from transformers import TrainerCallback

    class SavingEvery(TrainerCallback):
        def on_step_end(self, args, state, control, **_):
            is_last = state.epoch % 1 == 0 or state.global_step >= state.max_steps
            if state.global_step % steps == 0 and not is_last:
                control.should_save = True

    return SavingEvery()


def finish(out):
    """Removes what only an interrupted training needs."""
    shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)
    (out / RUN).unlink(missing_ok=True)
