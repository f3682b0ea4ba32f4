#!/bin/sh
# Tests the built program with the clients that others use: OpenAI's and MCP's for Node, OpenAI's
# for Python, and requests that schemathesis makes from the description of the interface. Where Node
# is missing it says so and leaves all out, unless HALMA_BROWSER_REQUIRED is set; where Python or its
# packages are missing it leaves out what needs them.
set -eu
cd "$(dirname "$0")"

leave() {
    [ -z "${HALMA_BROWSER_REQUIRED:-}" ] || { echo "error: $1" >&2; exit 1; }
    echo "warning: the clients are not tested: $1" >&2
    exit 0
}
command -v node >/dev/null && command -v npm >/dev/null || leave "there is no Node (20.19 or newer)"
node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
    leave "Node $(node --version) is too old (20.19 or newer is needed)"

if [ -z "${HALMA_BIN:-}" ]; then
    built="${CARGO_TARGET_DIR:-../../../target}/debug/halma"
    [ -x "$built" ] && "$built" serve --help >/dev/null 2>&1 || leave "there is no built program with \`serve\` (make build)"
    HALMA_BIN=$(cd "$(dirname "$built")" && pwd)/halma
    export HALMA_BIN
fi
npm ci --no-audit --no-fund --loglevel=error || leave "the packages for Node cannot be installed"

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
without() { echo "warning: Python's clients are not tested: $1" >&2; }
if ! command -v python3 >/dev/null; then
    without "there is no Python"
elif ! python3 -m venv "$place/venv" >"$place/said" 2>&1; then
    without "no environment can be made (python3 -m venv)"
elif ! "$place/venv/bin/python" -m pip install -q --disable-pip-version-check -r tests/requirements.txt >"$place/said" 2>&1; then
    tail -3 "$place/said" >&2
    without "the packages for Python cannot be installed"
else
    HALMA_PYTHON="$place/venv/bin/python"
    export HALMA_PYTHON
fi
npm test
