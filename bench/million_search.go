package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/meshyard/meshyard/models"
)

// This file measures searches, relative to the same statements sent directly to the database.

// searches are search queries of one kind.
type searches struct {
	kind, sort string
	filter     models.Filter
	narrowed   string // the filter as GraphQL text
	words      []string
}

// compareSearches compares, for each kind of search, the server with the single statement that
// finds the IDs of the page.
func compareSearches(ctx context.Context, o options, e engine, c *sized) error {
	kinds, err := c.searches(ctx)
	if err != nil {
		return err
	}
	t := newTable("searches among %d things by GraphQL, %d connections: relative to the rate at which the database alone finds the page", c.things, o.conns)
	last := &table{[][]string{{"", "median", "min", "max", "", ""}}}
	for _, k := range kinds {
		var rates, bare, p95 series
		for range o.pairs {
			got, err := c.searchRate(ctx, o, k, `nodes { ... on Thing { id name } }`)
			if err != nil {
				return err
			}
			rates, p95 = append(rates, got.rate), append(p95, got.p95.Seconds()*1000)
			rate, err := c.bareRate(ctx, o, e, k)
			if err != nil {
				return err
			}
			bare = append(bare, rate)
		}
		t.atLeast(k.kind, "%.2f", rates.over(bare), 0.5)
		last.row(k.kind+", 95th percentile latency, ms", "%.1f", p95)
		last.row(k.kind+", requests/s", "%.0f", rates)
		last.row(k.kind+", statements/s of the database alone", "%.0f", bare)
	}
	facets, err := c.searchRate(ctx, o, kinds[0], `facets { tags { tag { name } count } categories { count } licenses { count } }`)
	if err != nil {
		return err
	}
	last.row(kinds[0].kind+", facets alone, requests/s", "%.0f", series{facets.rate})
	t.print()
	last.print()
	return nil
}

// searches creates search queries from the tags of the catalogue.
func (c *sized) searches(ctx context.Context) ([]searches, error) {
	tags := func(query string) (names []string, err error) {
		rows, err := c.db.QueryContext(ctx, query)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return nil, err
			}
			names = append(names, name)
		}
		return names, rows.Err()
	}
	common, err := tags("SELECT slug FROM tags WHERE slug NOT LIKE '%\\_%' ESCAPE '\\' AND length(slug) > 4 ORDER BY thing_count DESC LIMIT 24")
	if err != nil {
		return nil, err
	}
	rare, err := tags("SELECT slug FROM tags WHERE slug NOT LIKE '%\\_%' ESCAPE '\\' AND length(slug) > 4 ORDER BY thing_count, id LIMIT 24")
	if err != nil {
		return nil, err
	}
	var pairs, typos, beginnings []string
	for i, word := range common {
		pairs = append(pairs, word+" "+common[(i+7)%len(common)])
		beginnings = append(beginnings, word[:4])
		typos = append(typos, word[:2]+string(word[3])+string(word[2])+word[4:])
	}
	narrow, narrowed := models.Filter{Licenses: []models.License{models.CCSA}}, "licenses: [CC_SA]"
	return []searches{
		{"a common word", "RELEVANT", models.Filter{}, "", common},
		{"a common word of a license", "RELEVANT", narrow, narrowed, common},
		{"a rare word", "RELEVANT", models.Filter{}, "", rare},
		{"two words, newest first", "NEWEST", models.Filter{}, "", pairs},
		{"two words of a license, newest first", "NEWEST", narrow, narrowed, pairs},
		{"a misspelled word", "RELEVANT", models.Filter{}, "", typos},
		{"the beginning of a word", "RELEVANT", models.Filter{}, "", beginnings},
	}, nil
}

// searchRate searches on all connections. Each connection has a unique number in a comment of its
// queries, because the server would coalesce identical concurrent queries.
func (c *sized) searchRate(ctx context.Context, o options, k searches, fields string) (turn, error) {
	texts := make([][][]byte, o.conns)
	for conn := range texts {
		for _, words := range k.words {
			document := fmt.Sprintf("query ($q: String!) { search(query: $q, first: 30, sort: %s, filter: {%s}) { %s } } # %d", k.sort, k.narrowed, fields, conn)
			texts[conn] = append(texts[conn], postDocument(document, map[string]string{"q": words}).text(c.server.address, c.token))
		}
	}
	generator, err := newLoadGenerator(c.server.address, o.conns, func(conn int) []byte { return texts[conn][rand.IntN(len(k.words))] })
	if err != nil {
		return turn{}, err
	}
	defer generator.close()
	if _, err := generator.run(ctx, o.round/4); err != nil { // warm-up
		return turn{}, err
	}
	return generator.run(ctx, o.round)
}

// bareRate runs the page statements without the server: with pgbench on PostgreSQL, and with the
// same driver in this process on SQLite. It returns statements per second.
func (c *sized) bareRate(ctx context.Context, o options, e engine, k searches) (float64, error) {
	var statements []string
	for _, words := range k.words {
		found, err := c.app.Store.Search(ctx, models.SearchThings, words, k.filter, map[string]models.Sort{"RELEVANT": models.ByRelevance, "NEWEST": models.ByNewest}[k.sort])
		if err != nil {
			return 0, err
		}
		statement, err := found.Statement(models.Slice{First: 30})
		if err != nil {
			return 0, err
		}
		statements = append(statements, statement)
	}
	if e == postgres {
		return pgbench(ctx, o, c.address, statements)
	}
	return c.askDirectly(ctx, o, statements)
}

// askDirectly runs statements in this process, on as many connections as the server uses for reads.
func (c *sized) askDirectly(ctx context.Context, o options, statements []string) (float64, error) {
	reader, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(c.address, "sqlite:")+"?_pragma=query_only(1)")
	if err != nil {
		return 0, err
	}
	defer reader.Close()
	var ran atomic.Int64
	end := time.Now().Add(o.round)
	group, ctx := errgroup.WithContext(ctx)
	for range max(4, runtime.NumCPU()) {
		group.Go(func() error {
			for time.Now().Before(end) {
				if err := drain(reader.QueryContext(ctx, statements[rand.IntN(len(statements))])); err != nil {
					return err
				}
				ran.Add(1)
			}
			return nil
		})
	}
	err = group.Wait()
	return float64(ran.Load()) / o.round.Seconds(), err
}

// drain reads and discards all rows.
func drain(rows *sql.Rows, err error) error {
	if err != nil {
		return err
	}
	for rows.Next() {
	}
	return errors.Join(rows.Err(), rows.Close())
}

// pgbench runs the statements with equal frequency and returns statements per second.
func pgbench(ctx context.Context, o options, address string, statements []string) (float64, error) {
	program, err := findPgbench()
	if err != nil {
		return 0, err
	}
	args := []string{"-n", "-M", "simple", "-c", strconv.Itoa(o.conns), "-j", "2", "-T", strconv.Itoa(max(1, int(o.round.Seconds())))}
	for i, s := range statements {
		name := filepath.Join(o.dir, fmt.Sprintf("search-%d.sql", i))
		if err := os.WriteFile(name, []byte(strings.ReplaceAll(s, "\n", " ")+";\n"), 0o600); err != nil {
			return 0, err
		}
		args = append(args, "-f", name)
	}
	cmd := exec.CommandContext(ctx, program, append(args, address)...)
	// The same settings as in the server.
	cmd.Env = append(os.Environ(), "PGOPTIONS=-c jit=off -c max_parallel_workers_per_gather=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("pgbench: %w: %.1000s", err, out)
	}
	_, rest, ok := strings.Cut(string(out), "tps = ")
	if !ok {
		return 0, fmt.Errorf("pgbench: no rate in %.1000s", out)
	}
	return strconv.ParseFloat(strings.Fields(rest)[0], 64)
}

func findPgbench() (string, error) {
	if path, err := exec.LookPath("pgbench"); err == nil {
		return path, nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if len(found) == 0 {
		return "", errors.New("pgbench is not installed")
	}
	return found[len(found)-1], nil
}
