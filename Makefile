# The commands of a developer's day. On Debian each installs what is missing first (as root), or says
# exactly what to install.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

# What the build needs beside the Swift toolchain, as Debian names it.
PACKAGES := libsqlite3-dev libssl-dev zlib1g-dev
# What a build may have beside: TRAITS=ApplePush (needs libnghttp2-dev).
ifeq ($(ONLY),postgres)
TRAITS := PostgreSQL
PACKAGES += libpq-dev postgresql
endif
RELEASE := -c release --product lenticular $(if $(TRAITS),--traits $(TRAITS))
# One file that runs without the toolchain; macOS has the runtime in the system.
ifeq ($(shell uname -s),Linux)
RELEASE += --static-swift-stdlib
endif
FORMATTED := Sources Tests Benchmarks Clients Package.swift

.DEFAULT_GOAL := help
.PHONY: help toolchain packages release serve test quick unit acceptance client-test javascript-test postgres postgres-proof bench \
	lint format image-check dist deb package-check

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' Makefile

toolchain:
	@command -v swift >/dev/null || { echo 'swift is missing; how to install it: https://www.swift.org/install/' >&2; exit 1; }

packages: toolchain ## install the system libraries that are missing, or say which
	@.ci/packages $(PACKAGES)
	@.ci/console-libraries || echo 'the build goes on without the console' >&2

release: packages ## build the server for release
	swift build $(RELEASE)

serve: release ## build for release and run a development server on 127.0.0.1:8080
	.build/release/lenticular serve --dev

test: unit acceptance client-test javascript-test ## run every test

quick: lint packages ## check the form and run the tests that need no server process: two minutes after a build
	Tests/unit --skip ServerTests --skip ModelTests

unit: packages ## run the Swift tests
	Tests/unit

acceptance: release ## run the scripts that use the server as its clients do
	Tests/acceptance/run

client-test: release ## run the tests of the Swift client against the server
	Tests/client

javascript-test: release ## run the tests of the JavaScript client against the server, and in a browser
	Tests/javascript

postgres: packages ## build the engine on PostgreSQL into .build-postgres, and run its tests
	@.ci/packages libpq-dev postgresql
	swift build --build-tests --traits PostgreSQL --scratch-path .build-postgres
	swift test --skip-build --traits PostgreSQL --scratch-path .build-postgres --filter 'Postgre(SQL|s)|SeveralServersTests'

postgres-proof: export CI_REQUIRE_ALL := 1
postgres-proof: postgres ## prove servers on PostgreSQL: kills, promotions of a standby, feeds, restarts, copies of containers, acceptance scripts
	@.ci/packages haproxy libnghttp2-dev libpq-dev pgbouncer postgresql python3 python3-venv
	swift build -c release --product lenticular --traits ApplePush,PostgreSQL --scratch-path .build-postgres
	TRAITS=ApplePush,PostgreSQL Tests/postgres/suites
	TEST_POSTGRES_STANDBY=1 TRAITS=ApplePush,PostgreSQL Tests/postgres/suites
	TEST_POSTGRES_STANDBY=1 TRAITS=ApplePush,PostgreSQL Tests/postgres/suites PostgreSQLConformanceTests
	Tests/postgres/proof.py --binary .build-postgres/release/lenticular --servers 3 --rounds 200 --promotions 40 \
	    --stops 5 --pairs 100000
	Tests/postgres/promotion.py --binary .build-postgres/release/lenticular --servers 3 --rounds 10
	Tests/postgres/leases.py --binary .build-postgres/release/lenticular --stops 5 --seconds 30
	.build/unit-venv/bin/python Tests/postgres/deliveries.py --binary .build-postgres/release/lenticular --rounds 20
	Tests/postgres/citus.py --binary .build-postgres/release/lenticular
	Tests/postgres/full_disk.py --binary .build-postgres/release/lenticular
	Tests/postgres/feeds.py --binary .build-postgres/release/lenticular --seconds 300 --restarts 20
	.build/acceptance-venv/bin/python Tests/postgres/bucket.py --binary .build-postgres/release/lenticular
	Tests/postgres/pooler.py --binary .build-postgres/release/lenticular
	SERVER_BINARY=$$PWD/.build-postgres/release/lenticular Tests/postgres/moving.py
	TRAITS=ApplePush,PostgreSQL .ci/build-image
	$(if $(wildcard .build/acceptance-venv/bin/python),.build/acceptance-venv/bin/python,python3) Tests/postgres/acceptance.py --binary .build-postgres/release/lenticular
	TEST_POSTGRES_STANDBY=1 $(if $(wildcard .build/acceptance-venv/bin/python),.build/acceptance-venv/bin/python,python3) Tests/postgres/acceptance.py --binary .build-postgres/release/lenticular

bench: release ## measure the server against SQLite's C API and nginx (ONLY=fairness: beside abusers; ONLY=postgres)
	Benchmarks/run $(if $(ONLY),--only $(ONLY))

lint: toolchain ## check the form of the sources
	swift format lint --strict --recursive --parallel $(FORMATTED)

format: toolchain ## give the sources their form
	swift format format --in-place --recursive --parallel $(FORMATTED)

dist: release ## make a release's archive in .build/packages (TRAITS=ApplePush as releases have it)
	packaging/dist

deb: release ## make the Debian package in .build/packages (TRAITS=ApplePush as releases have it)
	packaging/deb

package-check: release ## make both and try the package in a Debian of its own
	.ci/check-release
	.ci/check-package

image-check: release ## check the Dockerfile against the Makefile and the binary, build both images and ask them
	.ci/check-image
	.ci/build-image
