# What a person types. Each target does all that it needs, also on a machine where only g++, make, python3 and git are installed.
SHELL := /bin/bash
.DEFAULT_GOAL := help

# Setup may have put cmake, ninja, mpirun and libraries into .venv; CMake searches beside every folder of PATH.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# Open MPI refuses to start as root unless told twice; in a container one is root.
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1

.PHONY: help setup build study test docs lint tidy format clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 16

setup: ## bring all that building needs: by apt as root, else into .venv
	@tools/setup build

build: setup ## build the library and longshore-bench, optimised, in build/release
	@cmake --preset release -Wno-dev --log-level=WARNING
	@cmake --build --preset release

study: build ## measure this machine (about two minutes), show the winners, write report.html
	@longshore run studies/quick.toml --session "$$(date +%Y-%m-%dT%H-%M-%S)"; ran=$$?; \
	longshore show quick --winners && longshore report quick --output report.html && exit $$ran

test: ## run every check and test, as CI does
	@tools/setup test
	@python tools/run_tests.py

docs: ## the documentation and the interfaces as a site, in build/site/html
	@tools/setup test
	@tools/site

lint: ## check layout, style and types of all sources
	@tools/setup test
	@tools/lint

tidy: build ## look for likely bugs with clang-tidy (minutes)
	@tools/setup test
	@tools/tidy

format: ## lay out all sources as lint wants them
	@tools/setup test
	@tools/format

clean: ## remove what was built, set up and reported; measurements in longshore-results stay
	rm -rf build .venv report.html
