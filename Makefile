# The commands of this repository. Each target does its own set-up, also on a machine with only
# g++, make, python3 and git.
SHELL := /bin/bash
.DEFAULT_GOAL := help

# Setup may have installed cmake, ninja, mpirun and libraries into .venv. CMake also searches for
# libraries beside each folder of PATH.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# Open MPI refuses to start as root, the usual user in a container, without these variables.
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1

# Progress and time of a build.
export NINJA_STATUS := build: %p, step %f of %t, %e s: # with the space before this comment

.PHONY: help setup build build-study study records published test test-rest test-all docs release lint tidy format clean

help: ## list the targets; `make` alone does the same
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

setup: ## install all tools for a build: by apt as root, else into .venv
	@tools/setup build

build: setup ## build the library, longshore-bench and examples, optimised, in build/release
	@cmake --preset release -Wno-dev --log-level=WARNING >/dev/null
	@cmake --build --preset release
	@ln -sfn ../../build/release/bench/longshore-bench .venv/bin/longshore-bench

build-study: setup ## build longshore-bench alone, for `study` and `records`, in build/study
	@cmake --preset study -Wno-dev --log-level=WARNING >/dev/null
	@cmake --build --preset study
	@ln -sfn ../../build/study/bench/longshore-bench .venv/bin/longshore-bench

study: build-study ## measure this machine (minutes): the best strategies; writes report.html
	@longshore run studies/quick.toml --session "$$(date +%Y-%m-%dT%H-%M-%S)"; ran=$$?; \
	longshore show quick --winners && longshore report quick --output report.html && exit $$ran

records: build-study ## measure Longshore beside other programs on PATH (minutes on a quiet machine)
	@longshore run studies/records.toml --session "$$(date +%Y-%m-%dT%H-%M-%S)"; ran=$$?; \
	longshore show records --winners && longshore show records && exit $$ran

published: build-study ## predict published results on simulated machines (minutes), beside them
	@tools/published

test: ## run the checks and tests before a commit (minutes)
	@tools/setup test
	@python tools/run_tests.py --quick

test-rest: ## run the part of test-all that test leaves out
	@tools/setup all
	@python tools/run_tests.py --rest

test-all: ## run every check and test (an hour)
	@tools/setup all
	@python tools/run_tests.py

docs: ## build the site of pages and interfaces, in build/site/html
	@tools/setup all
	@tools/site

release: ## make and check all files of a release, in build/dist; publishes nothing
	@tools/setup all
	@tools/release

lint: ## check layout, style and types of all sources
	@tools/setup test
	@tools/lint

tidy: ## look for likely bugs with clang-tidy (minutes)
	@tools/setup all
	@tools/tidy

format: ## fix the layout of all sources
	@tools/setup test
	@tools/format

clean: ## remove builds, set-up and report; measurements in longshore-results stay
	rm -rf build .venv report.html
