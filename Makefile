# Two commands do all: `make conformance` and `make test`. ARGS goes to the suite, as in
#   make conformance ARGS='--driver letter --id FS-07 -v'
SHELL := bash
ARGS ?=
PREFIX ?= /usr/local
CONFORMANCE := cargo run --package kusaw-conformance --bin conformance --

.PHONY: conformance test peers matrix page saboteurs mutants e2e-egress e2e-agents bench fuzz setup build install pages

conformance: setup ## installs what is missing, builds, runs the suite on the reference, writes target/conformance/
	$(CONFORMANCE) $(ARGS)

test: setup ## everything: format, lints, unit, command line, features' lint, conformance on kusaw, letter, none and naive-bwrap
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	cargo test --workspace --quiet
	$(CONFORMANCE) run --driver letter --unclaimed 0
	$(CONFORMANCE) run --driver none --unclaimed 0
	$(CONFORMANCE) run --driver naive-bwrap --unclaimed 0
	@if [ "$$(id -u)" = 0 ]; then set -e; \
	  echo "once more, started by an ordinary user:"; ci/unprivileged --driver kusaw; ci/unprivileged --driver letter --id NS --id SEC --id INJ; fi

peers: ## other sandboxes, each into a folder of its own below target/peers/; needs the registries of npm, PyPI, crates and Debian
	ci/peers

matrix: setup ## every driver, six of others at least, none for more than 4 minutes, and the report over all: docs/matrix.md and a page
	-ci/peers # one that cannot be installed is blocked, by name
	$(CONFORMANCE) matrix --markdown docs/matrix.md -- --unclaimed 3 $(ARGS)

page: ## the report's page in a headless Chromium (Debian's, 300 MB), and a picture of the last matrix: docs/report.png
	ci/setup chromium
	cargo clippy --package kusaw-conformance --test page --quiet -- -D warnings
	cargo test --package kusaw-conformance --test page
	@[ ! -f target/conformance/matrix/index.html ] || ci/picture target/conformance/matrix/index.html docs/report.png

saboteurs: setup ## breaks the reference on purpose, one guarantee at a time: caught by which scenario, or MISSED; docs/saboteurs.md
	$(CONFORMANCE) saboteurs $(ARGS)

e2e-egress: setup ## the egress chapters, with real clients inside and P5 to P7; needs no internet
	$(CONFORMANCE) run --id NET --id EGR --id INJ --id CLI-02 $(ARGS)

e2e-agents: setup ## the real Claude Code, with a hostile model that the lab scripts; needs npm's registry once, else no internet
	-ci/agents # without them the scenarios are blocked, with the fix
	$(CONFORMANCE) run --features e2e/agents $(ARGS)

mutants: setup ## does a unit test notice? Settings, reach, the proxy's decision and the backend, one expression changed at a time; hours
	ci/mutants $(ARGS)

bench: setup ## what a launch costs and what the proxy, each as ratios in one run; ci/bench-peers brings other proxies
	@$(MAKE) --no-print-directory install DESTDIR=target/bench PREFIX=
	KUSAW=$(CURDIR)/target/bench/bin/kusaw cargo bench --quiet --package kusaw --no-fail-fast --bench launch --bench proxy -- $(ARGS)

fuzz: ## what reads a step's bytes, FUZZ_SECONDS (600) each; needs a nightly compiler, not part of test
	ci/fuzz

setup:
	@ci/setup

build: ## the reference: target/release/kusaw and its stage
	cargo build --quiet --release --package kusaw
	cargo --config ci/static.toml build --quiet --release --package kusaw-enter

install: build ## into PREFIX/bin: kusaw finds its stage beside itself
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/bin target/release/kusaw target/static/*/release/kusaw-enter

pages: ## the generated pages in docs/
	mkdir -p docs/schemas
	$(CONFORMANCE) list --markdown > docs/guarantees.md
	$(CONFORMANCE) trace > docs/traceability.md
	$(CONFORMANCE) schema driver > docs/schemas/driver.json
	$(CONFORMANCE) schema record > docs/schemas/record.json
	cargo run --quiet --package kusaw -- outcomes --markdown > docs/outcomes.md
