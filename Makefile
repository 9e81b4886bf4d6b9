# The usual targets; the build itself is Meson's. `make help` lists them.
BUILD ?= build

all: configure
	@echo "building in $(BUILD)/"
	@ninja --quiet -C $(BUILD)

# Set-up takes no time when nothing is missing. Without the tests a build needs less.
configure:
	@tools/setup run
	@test -f $(BUILD)/build.ninja || { echo "configuring $(BUILD)/"; \
		out=$$(meson setup $(BUILD) -Dtests=false 2>&1) || { echo "$$out"; exit 1; }; }

run: all
	@examples/tour.sh

test:
	@tools/test

lint: configure
	@tools/setup test
	@meson configure $(BUILD) -Dtests=true
	@echo "building in $(BUILD)/"
	@ninja --quiet -C $(BUILD)
	@tools/lint $(BUILD)

bench: all
	@$(BUILD)/vial bench

attacks:
	@tools/setup test
	@test -f build-mutation/build.ninja || { echo "configuring build-mutation/"; \
		out=$$(meson setup build-mutation -Dmutation=true 2>&1) || { echo "$$out"; exit 1; }; }
	@echo "building in build-mutation/"
	@ninja --quiet -C build-mutation vial-cell-js vial-cell-python tests/attacks/attacks-harness
	@tests/attacks/run --quiet build-mutation

fuzz: configure
	@tools/setup test
	@tools/fuzz $(or $(FUZZ_SECONDS),600)

soak: configure
	@tools/setup test
	@tools/soak

install: all
	@echo "installing from $(BUILD)/"
	@meson install -C $(BUILD) --no-rebuild --quiet

clean:
	@echo "removing the build directories"
	@rm -rf $(BUILD) build-asan build-mutation build-fuzz

help:
	@echo "make          set up and build; leaves $(BUILD)/vial"
	@echo "make run      build, then a short tour of what vial does"
	@echo "make test     everything: checks, unit, integration, sanitizers, attacks, faults, fuzzing"
	@echo "make lint     only the checks of the source"
	@echo "make attacks  only the hostile suite: N contained, N escaped, and the layers"
	@echo "make fuzz     every fuzz target for ten minutes, or FUZZ_SECONDS"
	@echo "make soak     10,000 runs, 1,000 crashes and 1,000 kills, and nothing grows"
	@echo "make bench    measure on this machine"
	@echo "make install  install; DESTDIR is honoured, the prefix is Meson's"
	@echo "make clean    remove what was built"

.PHONY: all configure run test lint bench attacks fuzz soak install clean help
