#!/bin/sh
# Makes crates/models/heads/heads.safetensors again from public data: `make heads DATA=FOLDER`.
# An hour and a half on one core; a killed run resumes. CARD.md says where the data is from.
#
#     train/heads/make.sh DATA [MINUTES]
#
# PYTHON: a Python with the packages in the head of train.py, where uv is not installed.
# BASE: the folder of all-MiniLM-L6-v2. EXCLUDE: files whose questions nothing is trained on.
# WORK: where examples and checkpoints go.
set -eu
cd "$(dirname "$0")/../.."
[ $# -ge 1 ] || { echo "error: no folder of data is named
 hint: train/heads/make.sh DATA [MINUTES]" >&2; exit 2; }
data=$1
base=${BASE:-$HOME/.cache/halma/models/all-MiniLM-L6-v2}
work=${WORK:-target/heads}
run() { script=$1; shift; ${PYTHON:-uv run} "train/heads/$script" "$@"; }
export TOKENIZERS_PARALLELISM=false PYTHONDONTWRITEBYTECODE=1
mkdir -p "$work"
# shellcheck disable=SC2086
[ -s "$work/data/statistics.json" ] || run data.py "$data" --out "$work/data" ${EXCLUDE:+--exclude $EXCLUDE}
run train.py "$work/data" --base "$base" --out "$work/checkpoint.pt" --epochs 2 ${2:+--minutes "$2"}
export_heads() { run export.py --base "$base" --checkpoint "$work/checkpoint.pt" "$@"; }
export_heads --out "$work/heads.safetensors"
run score.py "$work/data" --base "$base" --heads "$work/heads.safetensors" --out "$work/scores.json" --few 150
# Keywords are not better than rules: see CARD.md. The reference is for the tests of the program.
export_heads --scores "$work/scores.json" --without keyword \
    --out crates/models/heads/heads.safetensors --reference crates/models/heads/reference.json
