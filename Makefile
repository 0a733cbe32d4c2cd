# The commands of this repository. `make help` lists them.
#
# `make demo` and `make test` install what they miss (scripts/setup.sh says what)
# and need nothing else on a Debian machine with Rust, Python 3, root or sudo, and for the tests Node.

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.PHONY: help demo test build static dist campaign-dist web fmt tidy bench book pictures gallery campaign-files campaign-fuzz campaign-keys campaign-kernels campaign-truth campaign-cluster clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## analyse a capture that ships with the project and write target/demo/report.html
	@bash scripts/demo.sh

test: ## run everything that .ci/run runs: style checks, Rust tests, the page in a browser
	@bash scripts/test.sh

build: ## build target/release/tcplab with its report page, quickly (handed out is what `make static` builds)
	@cargo build --release --locked --package tcplab

static: ## build target/static/tcplab, which needs no library of a machine (docs/ssh.md)
	@bash scripts/static.sh

dist: ## make what is handed out, in target/dist-out: archive, .deb, wheel, OCI image, checksums; also for aarch64
	@bash scripts/dist.sh

campaign-dist: ## install all of that into empty places and use it (minutes; docs/campaigns.md)
	@bash scripts/campaign-dist.sh

web: ## build the report page, crates/report/page/index.html, which is committed (needs Node)
	@bash scripts/setup.sh web
	@bash scripts/web.sh

fmt: ## format the Rust code
	@cargo fmt --all

tidy: ## check layers, sizes, forbidden calls; list the aims that were missed
	@cargo xtask tidy --aims

bench: ## measure speed and memory of the program as it is handed out (minutes, 2 GB of disk; see benches/README.md)
	@bash scripts/bench.sh

book: ## build the book of docs/, target/book/index.html, and check its links (searchable, works without a network)
	@bash scripts/book.sh

pictures: ## draw docs/pictures/*.svg from their sources (needs Node)
	@bash scripts/pictures.sh

gallery: build ## run the experiments of docs/gallery.md again and draw their pictures (a minute or two)
	@bash scripts/book.sh setup
	@$(or $(CARGO_TARGET_DIR),target)/book-env/bin/python scripts/gallery.py

campaign-files: build ## try every form of output on every kind of file (minutes; root for all of them; docs/campaigns.md)
	@python3 scripts/campaign_files.py --append

campaign-fuzz: ## mutate manifests and result folders, SEED=1 N=1000000 (an hour; adds a row to docs/campaigns.md)
	@bash scripts/campaign-fuzz.sh

campaign-keys: build ## run files drawn from the contract on the model and on a kernel, SEED=1 N=1000 (minutes; docs/campaigns.md)
	@python3 scripts/campaign_keys.py --seed $(or $(SEED),1) -n $(or $(N),1000) $(ARGS)

campaign-kernels: build ## the model and four kernels on scenarios and scripts, SEED=1 N=2000 (half an hour; docs/releases.md)
	@python3 scripts/campaign_kernels.py --seed $(or $(SEED),1) --drawn $(or $(N),2000) $(ARGS)

campaign-truth: build ## score `analyze` on captures with a known truth, SEED=1 EACH=5 (minutes; docs/campaigns.md)
	@python3 scripts/campaign_truth.py --seed $(or $(SEED),1) --each $(or $(EACH),5) $(ARGS)

campaign-cluster: build ## a population on Dask workers of which 20 are killed, N=1000000 (minutes; docs/campaigns.md)
	@bash scripts/python.sh && target/python/env/bin/python scripts/campaign_cluster.py --connections $(or $(N),1000000) --seed $(or $(SEED),1) $(ARGS)

clean: ## remove all that was built
	@rm -rf target web/node_modules
