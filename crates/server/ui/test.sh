#!/bin/sh
# Tests the web UI: types, unit tests, whether the committed build is up to date, and end-to-end tests
# of every page in a browser against a real server. What cannot be tested is skipped with a warning,
# unless HALMA_BROWSER_REQUIRED is set.
set -eu
cd "$(dirname "$0")"
what="the web UI is"
. ../node-tests.sh
npm test
