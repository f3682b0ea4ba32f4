#!/bin/sh
# Tests the page: types, unit tests, whether the built page is the source's, and walks through every
# page in a browser against a real server. Where Node or Chromium is missing it says so and leaves
# out what needs it, unless HALMA_BROWSER_REQUIRED is set.
set -eu
cd "$(dirname "$0")"

leave() {
    [ -z "${HALMA_BROWSER_REQUIRED:-}" ] || { echo "error: $1" >&2; exit 1; }
    echo "warning: the page is not tested: $1" >&2
    exit 0
}
command -v node >/dev/null && command -v npm >/dev/null || leave "there is no Node (20.19 or newer)"
node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
    leave "Node $(node --version) is too old (20.19 or newer is needed)"

if [ -z "${HALMA_URL:-}${HALMA_BIN:-}" ]; then
    built="${CARGO_TARGET_DIR:-../../../target}/debug/halma"
    if [ -x "$built" ] && "$built" serve --help >/dev/null 2>&1; then
        HALMA_BIN=$(cd "$(dirname "$built")" && pwd)/halma
        export HALMA_BIN
    fi
fi
npm ci --no-audit --no-fund --loglevel=error || leave "the page's packages cannot be installed"
npm test
