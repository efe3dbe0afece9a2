package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/pgtest"
)

// This file compares the server with the bare contender, and with another build of the server, by
// the requests that people and programs send most.

// baseURL is the base URL of all servers, so that their responses have the same length.
const baseURL = "http://models.example"

// contender is a server that is measured. Its database and its files are a copy of its own, with
// the same content as all others.
type contender struct {
	name      string
	process   *process
	catalogue *catalogue
}

// The names of the contenders. before is the other build, bare the contender of replay.go.
const (
	ours   = "ours"
	before = "before"
	bare   = "bare"
)

// compareRequests grows a catalogue, records the requests of all rows, and measures all contenders
// in turns.
func compareRequests(ctx context.Context, o options, e engine) (err error) {
	o.things = cmp.Or(o.things, 10_000)
	server := "" // of PostgreSQL. Commits wait until they are on the disk, as in production.
	if e == postgres {
		address, stop, err := pgtest.StartDurable(ctx, o.place)
		if err != nil {
			return err
		}
		defer stop() // removes all databases
		server = address
	}
	first := o.server
	if o.before != "" {
		first = o.before // the other build may refuse a database that this one has migrated
	}
	original := &catalogue{dir: filepath.Join(o.dir, "original")}
	if err := os.Mkdir(original.dir, 0o750); err != nil {
		return err
	}
	if err := original.create(ctx, server, emptyTemplate); err != nil {
		return err
	}
	began := time.Now()
	g, err := grow(ctx, original.options(o), first, original.address)
	if err != nil {
		return fmt.Errorf("grow: %w", err)
	}
	fmt.Printf("\n%s: grown in %s: %d things by the API, %d imported\n", e, time.Since(began).Round(time.Second), o.grown,
		o.things)

	var all []contender
	defer func() {
		for _, c := range all {
			err = errors.Join(err, c.process.stop())
		}
	}()
	for _, c := range []struct{ name, binary string }{{ours, o.server}, {before, o.before}} {
		if c.binary == "" {
			continue
		}
		own, err := original.copy(ctx, server, c.name)
		if err != nil {
			return err
		}
		settings := own.options(o)
		settings.server = c.binary
		p, err := startServer(ctx, settings, "--database-url", own.address, "--base-url", baseURL, "--preview-workers", "0")
		if err != nil {
			return err
		}
		all = append(all, contender{c.name, p, own})
	}
	rows, err := newRows(ctx, g, all[0].process.address)
	if err != nil {
		return err
	}
	rows = o.chosen(rows)
	repeats, err := startReplay(ctx, o, e, server, original, rows, all[0])
	if err != nil {
		return err
	}
	all = append(all, repeats)
	if err := measureRows(ctx, o, string(e), rows, all); err != nil || e == sqlite {
		return err
	}
	return compareLimits(ctx, o, g, all[0])
}

// startReplay records the rows on a copy of a catalogue, and starts the bare contender on another
// one: it repeats changes that it must not find.
func startReplay(ctx context.Context, o options, e engine, server string, original *catalogue, rows []*row,
	like contender) (c contender, err error) {
	recorded, err := original.copy(ctx, server, "recorded")
	if err != nil {
		return c, err
	}
	recordings, err := record(ctx, recorded.options(o), recorded.address, rows)
	if err != nil {
		return c, fmt.Errorf("record: %w", err)
	}
	if err := compareResponses(ctx, like, recordings, rows); err != nil {
		return c, err
	}
	file := filepath.Join(o.dir, "recordings")
	if err := save(file, recordings); err != nil {
		return c, err
	}
	own, err := original.copy(ctx, server, bare)
	if err != nil {
		return c, err
	}
	p, err := startBare(ctx, own.options(o), "replay", string(e), own.address, file)
	return contender{bare, p, own}, err
}

// chosen returns the rows that the flag -rows selects.
func (o options) chosen(rows []*row) []*row {
	return slices.DeleteFunc(rows, func(r *row) bool { return !strings.Contains(r.name, o.rows) })
}

// measureRows measures rows with each number of connections, and prints a table for each.
func measureRows(ctx context.Context, o options, title string, rows []*row, all []contender) error {
	for _, conns := range o.connections {
		for _, r := range rows {
			if err := r.measure(ctx, o, conns, all); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
		if len(rows) == 0 {
			continue
		}
		fmt.Printf("\n%s, %s, %d processors; %d keep-alive connections; medians of %d turns of %s, with the minimum and the maximum\n\n",
			title, runtime.Version(), runtime.NumCPU(), conns, o.pairs, o.round)
		printRows(rows, all)
	}
	return nil
}

// varying is what differs between two responses to the same request.
var varying = regexp.MustCompile(`expires=\d+|signature=[\w-]+`)

// compareResponses checks that a server responds as it did when the requests were recorded.
func compareResponses(ctx context.Context, c contender, recordings []recording, rows []*row) error {
	for _, row := range rows {
		if row.writes {
			continue
		}
		r := row.requests[0]
		got, err := r.send(ctx, c.process.address)
		if err != nil {
			return err
		}
		a, b := varying.ReplaceAll(got.Body, nil), varying.ReplaceAll(recordings[r.recording-1].Response.Body, nil)
		if !bytes.Equal(a, b) {
			return fmt.Errorf("%s: the response is not the recorded one:\n%s", r, difference(string(a), string(b)))
		}
	}
	return nil
}

// difference returns the parts of two texts around their first difference.
func difference(a, b string) string {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	from := max(0, at-60)
	return fmt.Sprintf("%.200q\n%.200q", a[from:], b[from:])
}

// measure measures all contenders in turns.
func (r *row) measure(ctx context.Context, o options, conns int, all []contender) error {
	r.sides = nil
	for _, c := range all {
		if r.requestsOf(c) == nil {
			continue
		}
		s := &side{contender: c, row: r}
		r.sides = append(r.sides, s)
		defer s.close()
		long := 4 * o.round // until every connection has prepared its statements
		if r.others != nil {
			long *= 5 // until Node.js has compiled the code that it runs most
		}
		if err := s.turn(ctx, conns, long); err != nil {
			return err
		}
		s.results = results{}
	}
	for i := range o.pairs {
		for n := range r.sides {
			if err := r.sides[(i+n)%len(r.sides)].turn(ctx, conns, o.round); err != nil {
				return err
			}
		}
	}
	return r.checkSizes(ctx)
}

// checkSizes sends every request of a row that reads once to all contenders: if the sizes of the
// responses differ much, a contender returned something else. The mean size of a turn does not show
// that: a short one sends only some of the requests, chosen at random.
func (r *row) checkSizes(ctx context.Context) error {
	if r.writes {
		return nil
	}
	own := 0
	for i, s := range r.sides {
		size := 0
		for _, q := range r.requestsOf(s.contender) {
			got, err := q.send(ctx, s.process.address)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			size += len(got.Body)
		}
		if i == 0 {
			own = size
		}
		if size > 2*own+100 || own > 2*size+100 {
			return fmt.Errorf("the %d responses of %s have %d bytes, those of %s %d", len(r.requests), s.name, size, ours, own)
		}
	}
	return nil
}

// printRows prints the table.
func printRows(rows []*row, all []contender) {
	head := []string{"Request", "statements", "bytes", "requests/s", "ms", "CPU µs"}
	for _, c := range all[1:] {
		head = append(head, "rate/"+c.name, "CPU/"+c.name)
	}
	table := [][]string{head}
	sums, compared := make([]float64, 2*len(all)-2), make([]float64, 2*len(all)-2) // of logarithms
	for _, r := range rows {
		own := r.sides[0]
		statements := "–" // not recorded
		if r.statements != nil {
			statements = fmt.Sprintf("%.0f", r.statements.median())
		}
		cells := []string{r.name, statements, fmt.Sprintf("%.0f", own.size.median()),
			fmt.Sprintf("%.0f", own.rate.median()), fmt.Sprintf("%.2f", own.median.median()),
			fmt.Sprintf("%.0f", own.cpu.median())}
		for i, c := range all[1:] {
			n := slices.IndexFunc(r.sides, func(s *side) bool { return s.name == c.name })
			if n < 0 {
				cells = append(cells, "–", "–")
				continue
			}
			other := r.sides[n]
			rate, cpu := own.rate.over(other.rate), own.cpu.over(other.cpu)
			cells = append(cells, rate.spread(), cpu.spread())
			sums[2*i] += math.Log(rate.median())
			sums[2*i+1] += math.Log(cpu.median())
			compared[2*i]++
			compared[2*i+1]++
		}
		table = append(table, cells)
	}
	mean := []string{"geometric mean", "", "", "", "", ""}
	for i, sum := range sums {
		mean = append(mean, fmt.Sprintf("%.3f", math.Exp(sum/compared[i])))
	}
	table = append(table, mean)
	printMarkdown(table)
}
