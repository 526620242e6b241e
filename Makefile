# One command for each habit. Everything is built under build/<preset>; see CMakePresets.json.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help deps demo test wheel stub results fuzz soak bench format tidy clean

python := .venv/bin/python
package_python := $(CURDIR)/build/python/env/bin/python
scenario := scenarios/brownout-one-of-four.json
timeline := build/demo/brownout-one-of-four.timeline.json
cpp_files = $(shell find $(wildcard core sim python tests) -name '*.[ch]pp' -not -path '*/fixtures/*')

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 16

deps: # installs what is missing; a fraction of a second when nothing is
	@.ci/deps

# The build speaks on stderr, so that stdout is the account and nothing else.
demo: deps ## build, run a brownout against the machines, tell what happened
	@cmake --preset release >&2
	@cmake --build --preset release --target halfopen_cli >&2
	@mkdir -p $(dir $(timeline))
	@build/release/halfopen run $(scenario)
	@build/release/halfopen run $(scenario) --format json -o $(timeline)
	@echo; echo "The same run as a JSON timeline: $(timeline)"

# Every part runs, whatever became of those before it; the exit code remembers. ThreadSanitizer's
# few cases come first so that the last two summaries are those of the whole suite: ctest's, pytest's.
# The rules of the house come before the builds because they take no time, and because a test case with a
# name that CMake cannot read stops ctest before it could run the very rule that says so.
test: deps ## everything but the soak: C++ with sanitizers, races, tidy, package, Python
	@failed=; \
	$(python) tests/tidy/tidy.py || failed+=' tidy'; \
	cmake --preset dev && cmake --build --preset dev || failed+=' build-dev'; \
	cmake --preset tsan && cmake --build --preset tsan || failed+=' build-tsan'; \
	ctest --preset tsan --output-on-failure -j2 || failed+=' ctest-tsan'; \
	ctest --preset dev --output-on-failure -j2 || failed+=' ctest-dev'; \
	if .ci/wheel; then \
	  (cd build/python && $(package_python) -m pytest $(CURDIR)/tests/python/package -n 2) || failed+=' pytest-package'; \
	else failed+=' wheel'; fi; \
	HALFOPEN_BIN=build/dev/halfopen $(python) -m pytest tests/python -n 2 --dist loadscope || failed+=' pytest'; \
	if [[ -n $$failed ]]; then echo "make test: failed:$$failed" >&2; exit 1; fi

wheel: deps ## build the Python package and install it into build/python/env
	@.ci/wheel

stub: wheel # after a change of the bindings: the committed stub anew
	@$(package_python) python/make_stub.py python/halfopen/_core.pyi
	@$(package_python) -c 'from halfopen import _core; print(_core.scenario_schema(), end="")' > build/python/schema.json
	@$(package_python) python/generate_build.py build/python/schema.json > python/halfopen/build.py

study =
results: wheel ## the four studies anew, some minutes; study=2 for one of them
	@$(package_python) results $(study)

seconds = 10
fuzz: deps ## libFuzzer over the readers, 10 s each; seconds=N for longer
	@cmake --preset fuzz && cmake --build --preset fuzz && \
	$(python) tests/fuzz/run.py --build build/fuzz --seconds $(seconds)

soak: deps ## an hour of fuzzing and the long runs: before a release, not before a commit
	@failed=; \
	$(MAKE) --no-print-directory fuzz seconds=3600 || failed+=' fuzz'; \
	cmake --preset release && cmake --build --preset release && ctest --preset soak || failed+=' ctest-soak'; \
	if [[ -n $$failed ]]; then echo "make soak: failed:$$failed" >&2; exit 1; fi

bench: wheel ## workload W, the machines and sweeps, as ratios to a yardstick of the same hour
	@cmake --preset release >&2
	@cmake --build --preset release --target bench >&2
	@$(python) tests/bench/run.py --build build/release --python $(package_python)

format: deps ## clang-format over all our C++
	@clang-format -i $(cpp_files)

tidy: deps ## clang-tidy over core and sim, and the rules of the house
	@failed=; \
	cmake --preset dev > /dev/null || exit 1; \
	run-clang-tidy -quiet -p build/dev '$(CURDIR)/(core|sim)/' || failed=1; \
	$(python) tests/tidy/tidy.py || failed=1; \
	[[ -z $$failed ]]

clean: ## remove build/ (the Python environment stays)
	@rm -rf build
