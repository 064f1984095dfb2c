# make: the default study from a fresh clone.  make test: all that is checked.  Both set up .venv first.
PYTHON ?= python3
TORCH ?= torch==2.13.0
BIN := .venv/bin
MLFLOW_PORT ?= 5000
export MLFLOW_DISABLE_TELEMETRY := true

.PHONY: all environment test docs test-page test-slurm test-server bench gpu net torture smoke ui report figures
.PHONY: release archive clean

all: environment
	$(BIN)/snakemake --cores all
	@echo "Read reports/default/report.md; make ui shows the runs; costtogo compare tells more of what follows:"
	@$(BIN)/costtogo compare --format brief || test $$? -eq 3

environment: .venv/ready

.venv/ready: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("costtogo needs Python 3.11 or newer; name one with make PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "$(TORCH)" -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $@

# Nothing is left in the clone, which may be read-only, may have been worked in, and may have a study running.
test: export RUFF_NO_CACHE := true
test: environment
	$(BIN)/ruff check src tests benchmarks net tools torture docs
	$(BIN)/ruff format --check src tests benchmarks net tools torture docs
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

docs: environment
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "Open site/index.html; with its search: $(BIN)/python -m http.server --directory site"

test-page: environment
	$(BIN)/python -m pytest tests/page

test-slurm: environment
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[slurm]"
	COSTTOGO_SLURM=1 $(BIN)/python -m pytest tests/test_slurm.py

# Real servers: PostgreSQL and sshd of Debian's packages, MLflow's server, a stand-in for S3.
test-server: environment
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock \
	--editable ".[server,remotes,test-server]"
	COSTTOGO_SERVERS=1 $(BIN)/python -m pytest tests/tracking/test_server.py tests/workflow/test_servers.py

bench: .venv-bench/ready
	.venv-bench/bin/python -m benchmarks
	.venv-bench/bin/python -m benchmarks.scaling

.venv-bench/ready: requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check "$(TORCH)" -r requirements.lock
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]" \
	|| .venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $@

# On a machine with a GPU, about nine minutes; .venv is not needed, but Python with torch and what benchmarks/gpu.py names.
gpu:
	PYTHONPATH=src $(PYTHON) -m benchmarks.gpu $(OPTIONS)

net: environment
	$(BIN)/python -m net $(BEFORE) $(AFTER)

torture: environment
	$(BIN)/python -m torture

smoke: environment
	$(BIN)/snakemake --cores all smoke

ui: environment
	@MLFLOW_PORT=$(MLFLOW_PORT) $(BIN)/python -m costtogo.tracking
	@case "$$MLFLOW_TRACKING_URI" in http*) exit ;; esac; \
	echo "The UI is ready in about 10 seconds; Ctrl-C ends it."; \
	MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false $(BIN)/mlflow ui --host 127.0.0.1 --port $(MLFLOW_PORT) \
	--backend-store-uri "$${MLFLOW_TRACKING_URI:-sqlite:///$(CURDIR)/mlflow.db}"

report: environment
	$(BIN)/snakemake --cores all -- report
	$(BIN)/snakemake --report reports/default/report.html

figures: environment
	$(BIN)/snakemake --cores all -- figures

# The wheel and the source archive in dist/, from a clean tree; the wheel is tried in a venv of its own.
release: environment
	@test -z "$$(git status --porcelain)" || { echo "Commit or stash what git status shows; a release is of a commit."; exit 1; }
	rm -rf dist
	$(PYTHON) -m venv --clear .venv-release
	.venv-release/bin/python -m pip install --quiet --disable-pip-version-check build
	.venv-release/bin/python -m build --outdir dist > /dev/null
	$(PYTHON) -m venv --clear .venv-release
	.venv-release/bin/python -m pip install --quiet --disable-pip-version-check "$(TORCH)" dist/*.whl
	cd dist && ../.venv-release/bin/costtogo --version && ../.venv-release/bin/costtogo networks \
	&& ../.venv-release/bin/costtogo solve --puzzle hanoi_7 --state 2222222 \
	&& ../.venv-release/bin/costtogo solve --puzzle cube2 --scramble "R U' F2 R B" --solver exact
	rm -rf .venv-release
	@ls -sh dist
	@echo "Tag the commit (git tag vX.Y.Z) before a release: its version comes from the newest tag."

# A zip of each published study, or of STUDY, that stands on its own: dist/costtogo-<study>.zip.
archive: environment
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock --editable ".[archive]"
	@$(BIN)/python -m tools.archive $(STUDY)

clean:
	rm -rf results logs .snakemake mlflow.db mlflow.db-shm mlflow.db-wal mlruns
