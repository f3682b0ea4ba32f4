#!/bin/sh
# Makes crates/models/heads/heads.safetensors again from public data: `make heads DATA=FOLDER`.
# Minutes on a GPU, hours on a processor; a killed run resumes. CARD.md says where the data is from.
#
#     train/heads/make.sh DATA [MINUTES]
#
# MINUTES: of each of the three trainings, at most.
# MODEL: a folder with a small language model, which first makes questions of the passages (a GPU).
# PYTHON: a Python with the packages in the head of train.py, where uv is not installed.
# BASE: the folder of all-MiniLM-L6-v2. EXCLUDE: files whose questions nothing is trained on.
# WORK: where examples and checkpoints go. Relative paths start at the root of the repository.
set -eu
cd "$(dirname "$0")/../.."
fail() { printf 'error: %s\n hint: %s\n' "$1" "$2" >&2; exit 2; }
[ -n "${1:-}" ] || fail "no folder of data is named" "make heads DATA=FOLDER; train/heads/CARD.md lists its files"
[ -d "$1" ] || fail "\`$1\` is not a folder" "name the folder with the files that train/heads/CARD.md lists"
[ -n "${PYTHON:-}" ] || command -v uv >/dev/null || fail "uv is not installed" \
    "install it (https://docs.astral.sh/uv/), or name a Python with the packages in the head of train.py as PYTHON"
data=$1
base=${BASE:-$HOME/.cache/halma/models/all-MiniLM-L6-v2}
work=${WORK:-target/heads}
run() { script=$1; shift; ${PYTHON:-uv run} "train/heads/$script" "$@"; }
export TOKENIZERS_PARALLELISM=false PYTHONDONTWRITEBYTECODE=1
mkdir -p "$work"
if [ -n "${MODEL:-}" ] && [ ! -s "$work/made.jsonl" ]; then
    # shellcheck disable=SC2086
    run questions.py "$data" --out "$work/questions" ${EXCLUDE:+--exclude $EXCLUDE}
    run generate.py "$work/questions" --model "$MODEL" --out "$work/made.jsonl"
fi
made=$([ -s "$work/made.jsonl" ] && echo "--made $work/made.jsonl" || true)
# Each time, in half a minute: other files or questions than before are not trained on otherwise.
# shellcheck disable=SC2086
run data.py "$data" --out "$work/data" $made ${EXCLUDE:+--exclude $EXCLUDE}
trained() {
    out=$1; shift
    run train.py "$work/data" --base "$base" --out "$work/$out.pt" ${minutes:+--minutes "$minutes"} "$@"
}
minutes=${2:-}
trained first --epochs 6 --rate 2e-4 --dropout 0.1 --seed 1
trained second --epochs 6 --rate 4e-4 --dropout 0.1 --seed 2
trained third --epochs 4 --rate 3e-4 --dropout 0.2 --seed 4
checkpoints="$work/first.pt $work/second.pt $work/third.pt"
# shellcheck disable=SC2086
export_heads() { run export.py --base "$base" --checkpoint $checkpoints "$@"; }
export_heads --out "$work/heads.safetensors"
run score.py "$work/data" --base "$base" --heads "$work/heads.safetensors" --out "$work/scores.json" --few 150
# Keywords are not better than rules: see CARD.md. The reference is for the tests of the program.
export_heads --scores "$work/scores.json" --without keyword \
    --out crates/models/heads/heads.safetensors --reference crates/models/heads/reference.json
