#!/bin/sh
# The whole path from questions to a served proposer, on the demo and with a tiny model that is made
# here: `make train-smoke`. Nothing but Python packages is fetched; they stay in target/train-env.
# Where they cannot be installed, the Python part is skipped with a warning.
#
#     train/smoke.sh PROGRAM
set -eu
cd "$(dirname "$0")/.."
halma=$1
env=${CARGO_TARGET_DIR:-target}/train-env
work=$(mktemp -d)
server=
cleanup() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
fail() { echo "error: $1" >&2; exit 1; }
# What halma says is shown only when it fails.
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "$*"; }; }

quietly "$halma" index demo/library --kb "$work/kb"
collect="train collect demo/questions.jsonl --kb $work/kb --rounds 3"
quietly "$halma" $collect --limit 4 --out "$work/runs.jsonl"
# The rest in a second run, after a line that a killed run left half written.
printf '{"line":"round","version' >>"$work/runs.jsonl"
quietly "$halma" $collect --out "$work/runs.jsonl"
grep "solved" "$work/log"
if "$halma" $collect --set kar3.k=2 --out "$work/runs.jsonl" >"$work/log" 2>&1; then
    fail "other settings are mixed into a collection"
fi
grep -q "kar3\|k was 4 and is 2" "$work/log" || fail "the message does not name the setting"
for format in trl llama-factory openai; do
    for kind in sft dpo; do
        pairs="train pairs $work/runs.jsonl --format $format --kind $kind --share 0"
        if ! "$halma" $pairs --out "$work/$format-$kind" >"$work/log" 2>&1; then
            # Of so few questions none may be answered wrongly first and rightly then.
            [ $kind = dpo ] && grep -q "no preferences" "$work/log" && continue
            cat "$work/log" >&2
            fail "$pairs"
        fi
        quietly "$halma" $pairs --out "$work/again"
        diff -r "$work/$format-$kind" "$work/again" || fail "$format $kind: two runs differ"
        rm -r "$work/again"
    done
done
keywords="train keywords crates/eval/tests/fixtures/hotpotqa.json --share 0 --kb $work/passages"
quietly "$halma" $keywords --out "$work/keywords"
grep "label" "$work/log"

skip() { echo "warning: training is not tested: $1" >&2; exit 0; }
command -v python3 >/dev/null || skip "Python is not installed"
needed=$(sed -n 's/^#     "\(.*\)",$/\1/p' train/lora.py)
if [ "$(cat "$env/installed" 2>/dev/null)" != "$needed" ]; then
    free=$(df -Pk . | awk 'NR == 2 { print $4 }')
    [ "$free" -gt 15000000 ] || skip "less than 15 GB of the disk are free"
    rm -rf "$env"
    python3 -m venv "$env" >"$work/log" 2>&1 || skip "cannot create a virtual environment"
    # Two gigabytes, once.
    # shellcheck disable=SC2086
    timeout 1200 "$env/bin/python" -m pip install -q --no-cache-dir --disable-pip-version-check $needed \
        >"$work/log" 2>&1 || { tail -3 "$work/log" >&2; skip "the Python packages cannot be installed"; }
    echo "$needed" >"$env/installed"
fi
python=$env/bin/python
# One thread: two would wait for each other longer than they compute.
export OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false HF_HUB_OFFLINE=1 HF_HOME="$work/hub"
export PYTHONWARNINGS=ignore PYTHONDONTWRITEBYTECODE=1

quietly "$python" -m unittest discover -s train -p blend_test.py -k Words -k Relations -k Statements -k Merging
quietly "$python" train/heads/smoke.py "$work/heads"
grep "heads: " "$work/log"
quietly "$python" train/smoke.py "$work/trl-sft" "$work" base masks
grep "a base of\|gradient" "$work/log"
refuses() {
    message=$1; shift
    if "$python" "$@" >"$work/log" 2>&1; then fail "not refused: $*"; fi
    grep -q "$message" "$work/log" || { cat "$work/log" >&2; fail "the reason is missing: $message"; }
}
lora="train/lora.py $work/sft --base $work/base --out $work/adapter --epochs 2 --cpu --save-steps 10"
"$python" $lora --rate 4e-3 >"$work/log" 2>&1 &
server=$!
checkpoints=$work/adapter/checkpoints
for _ in $(seq 3000); do
    ! ls "$checkpoints"/checkpoint-*/trainer_state.json >/dev/null 2>&1 || break
    kill -0 "$server" 2>/dev/null || { cat "$work/log" >&2; fail "the training ends without a checkpoint"; }
    sleep 0.2
done
kill -KILL "$server"
wait "$server" 2>/dev/null || true
server=
complete=$(dirname "$(ls "$checkpoints"/checkpoint-*/trainer_state.json | head -1)")
cp "$complete/trainer_state.json" "$work/killed.json"
# A newer checkpoint, of which only the weights were written.
mkdir "$checkpoints/checkpoint-49"
cp "$complete/adapter_model.safetensors" "$checkpoints/checkpoint-49"
refuses "rate was 0.004 and is 0.005" $lora --rate 5e-3
refuses "is not finished" train/merge.py "$work/adapter" --out "$work/wrong"
quietly "$python" $lora --rate 4e-3
grep "resumes after step" "$work/log" || fail "a killed training starts again"
refuses "is not an empty folder" $lora --rate 4e-3
quietly "$python" train/merge.py "$work/adapter" --out "$work/model"
for base in other model; do
    refuses "is not an adapter for" train/merge.py "$work/adapter" --base "$work/$base" --out "$work/wrong"
done
quietly "$python" train/lora.py "$work/dpo" --kind dpo --base "$work/model" --out "$work/preferred" \
    --rate 1e-3 --epochs 2 --cpu
refuses "is not an adapter for" train/merge.py "$work/preferred" --base "$work/base" --out "$work/wrong"
quietly "$python" train/smoke.py "$work/trl-sft" "$work" check
cat "$work/log"

"$python" train/serve.py "$work/model" --port 0 --seconds 300 --cpu >"$work/served" 2>"$work/log" &
server=$!
for _ in $(seq 100); do
    url=$(sed -n 's/^serving .* at //p' "$work/served")
    [ -z "$url" ] || break
    kill -0 "$server" 2>/dev/null || { cat "$work/log" >&2; fail "the model is not served"; }
    sleep 1
done
cat >"$work/halma.toml" <<CONFIG
[models.trained]
url = "$url"
model = "model"
[roles]
proposer = "trained"
[strategy.kar3]
proposer = "trained"
CONFIG
question="Where was the builder of the bridge of Varn number 3 born?"
quietly "$halma" ask "$question" --strategy kar3 --config "$work/halma.toml" --kb "$work/kb" --answer-style short --json
"$python" train/smoke.py "$work/trl-sft" "$work" replies
