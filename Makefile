# make run and make test need Go and nothing else.

# Recording the commit in the binary (-buildvcs) makes builds fail if git is missing or the checkout belongs to another user.
export GOFLAGS := -buildvcs=false $(GOFLAGS)

# -s -w leave out symbol table and debugging information, a third of the size; stack traces keep their names and lines.
# Not -trimpath: the tests would then compile every package a second time.
ldflags := -s -w -X main.version=$(shell git describe --tags --always --dirty 2>/dev/null)

module := github.com/meshyard/meshyard
with-postgres := go run ./internal/pgtest/with --

# go-test runs go test. It reruns up to three failed tests once, each alone, and lists them at the end: tests that run servers and browsers,
# or kill processes, may fail on a machine that stalls for a minute. Tests with data races are never rerun.
go-test := go run gotest.tools/gotestsum@v1.13.0 --format standard-quiet --no-color --hide-summary skipped --rerun-fails=1 --rerun-fails-max-failures=3 \
  --rerun-fails-run-root-test --rerun-fails-abort-on-data-race

# depth-first are options of go test that compile the executor of gqlgen, which the tree does not contain: docs/adr/0011-generated-code.md.
depth-first := -overlay bin/_depthfirst/overlay.json -tags depthfirst

.PHONY: bench-library test-pgbouncer test-pgbouncer-full test-hostile test-accessibility test-outages test-nodes test-nodes-full web test-web test-gallery lighthouse contact-sheet-web lint-deploy test-account test-webhooks test-bombs test-examples contact-sheet help run demo build test check generate bench test-bench bench-million fuzz test-differential test-kill test-upload test-graphql-http test-browser lint-openapi lint-schema race bench-threejs test-formats

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## Build and serve on 127.0.0.1:8080 with everything under ./data
	./bin/meshyard serve

demo: build ## Build, fill a new server in ./demo with a few users and things, and serve it on 127.0.0.1:8080
	@test -e demo/meshyard.db || ./bin/meshyard demo --data demo
	./bin/meshyard serve --data demo

# -v prints each package as it is compiled, so the first build shows that it makes progress.
build: ## Build bin/meshyard
	@test -e bin/meshyard || echo "Compiling Meshyard and about 700 packages that it uses. The first time this takes two to" \
	  "six minutes on two cores, after that seconds."
	go build -v -ldflags '$(ldflags)' -o bin/meshyard ./cmd/meshyard
	@echo "Built bin/meshyard. To type only meshyard: PATH=$(CURDIR)/bin:\$$PATH"

# -parallel 4, because tests of servers wait for timers and for child processes. The timeout ends deadlocks. It applies to each package; on a
# slow or busy machine the suites of test/ take many times as long as usual.
test: ## Run the tests on SQLite and PostgreSQL, which is started, or installed, if MESHYARD_TEST_POSTGRES is not set
	$(with-postgres) $(go-test) --packages ./... -- -vet=off -parallel 4 -timeout 1h
	go run ./internal/graphql/graphqlgen -depth-first bin/_depthfirst
	$(with-postgres) $(go-test) --packages ./test/graphql -- -vet=off -timeout 1h $(depth-first) -run TestExecutorsAgree

check: ## Check formatting, types on Windows and macOS, prose, golangci-lint with vet, and that generated code is up to date
	@test -z "$$(gofmt -l .)" || { echo "not formatted:"; gofmt -l .; exit 1; }
	go run ./internal/typecheck windows darwin
	go run ./internal/prosecheck
	go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.14.0 run ./...
	@before=$$(cat graph/*.go graph/*/*.go | sha256sum); go run ./internal/graphql/graphqlgen; after=$$(cat graph/*.go graph/*/*.go | sha256sum); \
	test "$$before" = "$$after" || { echo "graph/ is not what the schema generates: run make generate"; exit 1; }

# Packages that neither start goroutines nor use package sync are left out. So are cmd/meshyard, whose tests run the binary, and internal/mesh,
# where one goroutine works on each mesh. Code that computes in one goroutine is compiled without the race detector: SQLite, meshes, scaling of
# images, hashing of passwords.
concurrent = $(shell grep -rlE --include='*.go' '^\s+go |^\s+"sync(/atomic)?"|servertest\.Concurrent' bench cmd/meshyard/server graph internal models rest test | \
  grep -v '^internal/mesh/' | xargs dirname | sort -u)
race: ## Run the tests with the race detector, except those that send one request after another
	go run ./internal/graphql/graphqlgen -depth-first bin/_depthfirst
	$(with-postgres) $(go-test) --packages "$(addprefix ./,$(concurrent))" -- -race -short -vet=off -parallel 4 -timeout 1h $(depth-first) \
	$(foreach package,modernc.org/sqlite/lib $(module)/internal/mesh/... golang.org/x/image/... golang.org/x/crypto/argon2,-gcflags=$(package)=-race=false)

generate: ## Generate the Go code of the GraphQL schema
	go run ./internal/graphql/graphqlgen

bench: ## Compare with a replay of the statements and with PostGraphile, by the requests of the gallery and REST; prints ratios
	$(with-postgres) go run ./bench

test-bench: ## Check that the benchmarks run, with a small catalogue and short turns
	$(with-postgres) go run ./bench -only requests -peers=false -grown 12 -things 300 -round 20ms -pairs 1 -connections 4
	go run ./bench -only upload -size 4 -pairs 1

bench-library: ## Compare reading the folders of a library of 1,000,000 files with find
	MESHYARD_TEST_LIBRARY_FILES=1000000 go test ./internal/librarywalk -run '^$$' -bench Walk -benchtime 1x

bench-million: ## Compare a catalogue of a million things with one of ten thousand; takes about twenty minutes
	$(with-postgres) go run ./bench -only million

bench-threejs: node-modules ## Compare the conversion of a million triangles to three.js JSON with that of three.js; needs node and npm
	go run ./bench/threejs

test-differential: ## Run 100,000 random queries on gqlgen's executor and on ours, on each engine
	go run ./internal/graphql/graphqlgen -depth-first bin/_depthfirst
	MESHYARD_TEST_DIFFERENTIAL=100000 $(with-postgres) go test -count=1 -timeout 6h $(depth-first) -run TestExecutorsAgree -v ./test/graphql

test-kill: ## Kill the server in the middle of uploads and finalizations, and restores and imports beside a server, fifty times on each engine
	MESHYARD_TEST_KILLS=50 $(with-postgres) go test -count=1 -timeout 30m -run TestKill -v ./cmd/meshyard

test-account: ## Move an account of 200 things between two servers; make test moves 20
	MESHYARD_TEST_THINGS=200 $(with-postgres) go test -count=1 -timeout 30m -v ./cmd/meshyard/account

test-webhooks: ## Send 1,000 events to receivers that fail, hang and redirect (make test sends 24), and kill the server meanwhile
	MESHYARD_TEST_WEBHOOK_EVENTS=1000 $(with-postgres) go test -count=1 -timeout 30m -run TestWebhookDeliveries -v ./test/webhooks
	$(with-postgres) go test -count=1 -timeout 30m -run TestKillLosesNoWebhook -v ./cmd/meshyard

test-outages: ## Stop PostgreSQL and the bucket for a minute each; make test stops them for a few requests
	MESHYARD_TEST_OUTAGE_SECONDS=60 $(with-postgres) go test -count=1 -timeout 10m -run 'Outage|TestFullDisk' -v ./test/operation

test-bombs: ## Make previews of all hostile models; make test uses every fourth
	MESHYARD_TEST_BOMBS=all $(go-test) --packages ./internal/preview/child -- -count=1 -timeout 30m -run TestBombs

test-hostile: ## Send all hostile inputs to all operations of the REST API; make test sends a third
	MESHYARD_TEST_HOSTILE=all $(with-postgres) go test -count=1 -timeout 30m -run TestNoInputCausesInternalError -v ./test/rest

test-upload: ## Upload 2 GiB by GraphQL, with a length and in chunks, and watch the server's memory
	MESHYARD_TEST_UPLOAD_MIB=2048 go test -count=1 -timeout 30m -run TestLargeUpload -v ./cmd/meshyard

test-examples: ## Run the example clients against a server; needs node and npm
	go test -count=1 -tags npm -run TestExamples -v ./cmd/meshyard

web: ## Build the gallery's script and style sheet from web/; needs node and npm
	go run ./internal/web/gallery/typings
	npm ci --no-audit --no-fund --prefix web
	npm run check --prefix web
	npm run build --prefix web

test-web: ## Check that the files of the gallery are what web/ builds; needs node and npm
	go test -count=1 -tags npm -run TestFresh ./internal/web/gallery/...

test-gallery: ## Use the gallery in headless Chromium, and check its pages with axe-core; needs node and npm
	npm ci --no-audit --no-fund --prefix web
	$(go-test) --packages ./test/gallery -- -count=1 -timeout 30m -parallel 4 -tags browser,npm -run 'TestBrowserGallery|TestBrowserAccessibility'

test-accessibility: ## Check the pages of the gallery with axe-core on all displays; make test-gallery checks each on one; needs node and npm
	npm ci --no-audit --no-fund --prefix web
	MESHYARD_TEST_DISPLAYS=all go test -count=1 -timeout 30m -tags browser,npm -run TestBrowserAccessibility -v ./test/gallery

lighthouse: ## Print the scores of Lighthouse for home, a search and a thing; needs node and npm
	go test -count=1 -tags browser,npm -run TestLighthouse -v ./test/gallery

contact-sheet-web: ## Draw all pages of the gallery into bin/gallery.png, in three widths and both color schemes, for visual inspection
	@mkdir -p bin
	MESHYARD_TEST_CONTACT_SHEET=$(CURDIR)/bin/gallery.png go test -count=1 -tags browser -run TestGalleryContactSheet -timeout 20m ./test/gallery

test-graphql-http: ## Run the audits of GraphQL over HTTP, and clients for subscriptions; needs npm
	$(go-test) --packages ./test/graphql -- -count=1 -timeout 30m -tags npm -run 'TestGraphQLOverHTTP|TestSubscriptionClients'

fuzz: ## Run each fuzz target for FUZZTIME, by default a minute
	./.ci/fuzz $(FUZZTIME)

contact-sheet: ## Draw all meshes of the test data into bin/contact-sheet.png, for visual inspection
	go run ./internal/mesh/contactsheet testdata/meshes $(wildcard ../shared/data/meshes)

test-formats: node-modules ## Load the written files of every model of the test data with three.js and the glTF validator; needs node and npm
	go test -count=1 -tags npm -run Programs -v ./internal/mesh/write/threejs

.PHONY: node-modules
node-modules:
	npm ci --no-audit --no-fund --prefix internal/mesh/write/threejs/testdata

lint-openapi: ## Lint the OpenAPI description with Redocly; needs npm. A redirect has no 2xx response, so that rule is disabled
	npx --yes @redocly/cli@2.77.0 lint rest/testdata/openapi.golden.json --skip-rule operation-2xx-response

lint-schema: ## Lint the GraphQL schema and compare it with the last release; needs npm. Fields are sorted by topic, so the rules about alphabetical order are disabled
	npx --yes -p graphql@16.11.0 -p graphql-schema-linter@3.0.1 graphql-schema-linter \
	--except type-fields-sorted-alphabetically,interface-fields-sorted-alphabetically,input-object-fields-sorted-alphabetically,enum-values-sorted-alphabetically rest/testdata/schema.golden.graphql
	./.ci/schema-changes

# The skipped tests look at sessions of PostgreSQL, or change settings of the database.
through-pgbouncer = $(with-postgres) $(go-test) --packages "$(1)" -- -count=1 -timeout 1h -parallel 4 -tags pgbouncer \
  -skip 'TestBind|TestPreparedStaysPrepared|TestSelectAfterLostConnections|TestSettingsOfDatabase|/sqlite'

test-pgbouncer: ## Run the tests of the database and of models, and a server with a backup, behind PgBouncer in transaction mode; needs pgbouncer
	$(call through-pgbouncer,./internal/database ./models/...)
	$(with-postgres) go test -count=1 -timeout 10m -tags pgbouncer -run TestRentedDatabases ./cmd/meshyard

test-pgbouncer-full: ## Run all tests of a server behind PgBouncer; takes many minutes
	$(call through-pgbouncer,./test/...)

test-nodes: ## Restart two servers behind nginx in turn, under load; needs nginx and curl
	$(with-postgres) $(go-test) --packages ./cmd/meshyard -- -count=1 -timeout 30m -tags nginx -run TestNodes

# versitygw is built outside of this module, which does not depend on it.
test-nodes-full: ## The same with an upload of 1 GiB, six restarts, and versitygw as the S3 server, which takes minutes to build
	GOBIN=$(CURDIR)/bin go install github.com/versity/versitygw/cmd/versitygw@v1.8.0
	MESHYARD_TEST_RESTARTS=3 MESHYARD_TEST_UPLOAD_MIB=1024 MESHYARD_TEST_VERSITYGW=$(CURDIR)/bin/versitygw \
	$(with-postgres) go test -count=1 -timeout 20m -tags nginx -run TestNodes -v ./cmd/meshyard

lint-deploy: ## Check the samples in deploy/; needs promtool, caddy, nginx, openssl and systemd-analyze
	./deploy/lint

test-browser: ## Drive GraphiQL, the pages and the viewer in headless Chromium with the network cut off
	$(go-test) --packages ./test/gallery -- -count=1 -timeout 30m -tags browser -run Browser -skip BrowserGallery
	$(go-test) --packages "./internal/web/graphiql/... ./internal/web/pages ./internal/web/viewer" -- -count=1 -timeout 30m -tags browser
