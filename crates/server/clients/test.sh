#!/bin/sh
# Tests the built program with clients: OpenAI's and MCP's for Node, OpenAI's for Python, the package
# in python/ with its retrievers for LangChain and LlamaIndex, and requests that schemathesis generates from the OpenAPI description. What cannot be tested is
# skipped with a warning, unless HALMA_BROWSER_REQUIRED is set.
set -eu
cd "$(dirname "$0")"
what="third-party clients are"
. ../node-tests.sh
[ -n "${HALMA_BIN:-}" ] || skip "there is no built program with \`serve\` (make build)"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
skip_python() { echo "warning: Python clients are not tested: $1" >&2; }
if ! command -v python3 >/dev/null; then
    skip_python "Python is not installed"
elif ! python3 -m venv "$work/venv" >"$work/log" 2>&1; then
    skip_python "cannot create a virtual environment (python3 -m venv)"
elif ! "$work/venv/bin/python" -m pip install -q --disable-pip-version-check -r tests/requirements.txt >"$work/log" 2>&1; then
    tail -3 "$work/log" >&2
    skip_python "the Python packages cannot be installed"
else
    HALMA_PYTHON="$work/venv/bin/python"
    export HALMA_PYTHON
fi
npm test
