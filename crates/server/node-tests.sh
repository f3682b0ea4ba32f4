# Sourced by ui/test.sh and clients/test.sh, in their folder: checks Node, finds the built program and
# installs the packages. `what` names what is tested. Whatever is missing is reported and the tests are
# skipped, unless HALMA_BROWSER_REQUIRED is set.

skip() {
    [ -z "${HALMA_BROWSER_REQUIRED:-}" ] || { echo "error: $1" >&2; exit 1; }
    echo "warning: $what not tested: $1" >&2
    exit 0
}

command -v node >/dev/null && command -v npm >/dev/null || skip "Node (20.19 or newer) is not installed"
node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
    skip "Node $(node --version) is too old (20.19 or newer is required)"

if [ -z "${HALMA_URL:-}${HALMA_BIN:-}" ]; then
    built="${CARGO_TARGET_DIR:-../../../target}/debug/halma"
    if [ -x "$built" ] && "$built" serve --help >/dev/null 2>&1; then
        HALMA_BIN=$(cd "$(dirname "$built")" && pwd)/halma
        export HALMA_BIN
    fi
fi
npm ci --no-audit --no-fund --loglevel=error || skip "the npm packages cannot be installed"
