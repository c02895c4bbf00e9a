# What a person types. Each target does all that it needs, also on a machine where only g++, make, python3 and git are installed.
SHELL := /bin/bash
.DEFAULT_GOAL := help

# Setup may have put cmake, ninja, mpirun and libraries into .venv; CMake searches beside every folder of PATH.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# Open MPI refuses to start as root unless told twice; in a container one is root.
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1

# How far a build is, and for how long it has run.
export NINJA_STATUS := build: %p, step %f of %t, %e s: # the space before this remark belongs to it

.PHONY: help setup build study test test-rest test-all docs lint tidy format clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 18

setup: ## bring all that building needs: by apt as root, else into .venv
	@tools/setup build

build: setup ## build the library, longshore-bench and the examples, optimised, in build/release
	@cmake --preset release -Wno-dev --log-level=WARNING >/dev/null
	@cmake --build --preset release
	@ln -sfn ../../build/release/bench/longshore-bench .venv/bin/longshore-bench

study: setup ## measure this machine (minutes), show which strategy is best for what, write report.html
	@cmake --preset study -Wno-dev --log-level=WARNING >/dev/null
	@cmake --build --preset study
	@ln -sfn ../../build/study/bench/longshore-bench .venv/bin/longshore-bench
	@longshore run studies/quick.toml --session "$$(date +%Y-%m-%dT%H-%M-%S)"; ran=$$?; \
	longshore show quick --winners && longshore report quick --output report.html && exit $$ran

test: ## run the checks and tests that protect a commit (minutes)
	@tools/setup test
	@python tools/run_tests.py --quick

test-rest: ## run what `make test-all` has beyond `make test`
	@tools/setup all
	@python tools/run_tests.py --rest

test-all: ## run every check and test (half an hour)
	@tools/setup all
	@python tools/run_tests.py

docs: ## the documentation and the interfaces as a site, in build/site/html
	@tools/setup all
	@tools/site

lint: ## check layout, style and types of all sources
	@tools/setup test
	@tools/lint

tidy: ## look for likely bugs with clang-tidy (minutes)
	@tools/setup all
	@tools/tidy

format: ## lay out all sources as lint wants them
	@tools/setup test
	@tools/format

clean: ## remove what was built, set up and reported; measurements in longshore-results stay
	rm -rf build .venv report.html
