package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/meshyard/meshyard/internal/pgtest"
)

// This file compares the server with the bare contender, and with another build of the server, by
// the requests that people and programs send most.

// baseURL is the base URL of all servers, so that their responses have the same length.
const baseURL = "http://models.example"

// contender is a server that is measured. Its database and its files are a copy of its own, with the
// same content as all others.
type contender struct {
	name    string
	process *process
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
	o.things = cmp.Or(o.things, importThings)
	databases, err := newDatabases(ctx, o, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, databases.close()) }()
	first := o.server
	if o.before != "" {
		first = o.before // the other build may refuse a database that this one has migrated
	}
	original, err := databases.empty(ctx, "original")
	if err != nil {
		return err
	}
	began := time.Now()
	g, err := grow(ctx, original.options(o), first, original.address)
	if err != nil {
		return fmt.Errorf("grow: %w", err)
	}
	fmt.Printf("\n%s: grown in %s: %d things by the API, %d imported\n", e, time.Since(began).Round(time.Second), o.grown, o.things)

	names := []string{ours, bare}
	if o.before != "" {
		names = []string{ours, before, bare}
	}
	copies := make(map[string]*copied)
	for _, name := range append(slices.Clone(names), "recorded") {
		if copies[name], err = databases.copy(ctx, original, name); err != nil {
			return err
		}
	}
	var all []contender
	defer func() {
		for _, c := range all {
			err = errors.Join(err, c.process.stop())
		}
	}()
	var rows []*row
	for _, name := range names {
		own := copies[name].options(o)
		var p *process
		switch name {
		case before:
			own.server = o.before
			fallthrough
		case ours:
			p, err = startServer(ctx, own, "--database-url", copies[name].address, "--base-url", baseURL, "--preview-workers", "0")
		case bare:
			file := filepath.Join(own.dir, "recordings")
			if rows, err = newRows(ctx, g, all[0].process.address); err != nil {
				return err
			}
			rows = o.chosen(rows)
			recordings, err := record(ctx, copies["recorded"].options(o), copies["recorded"].address, rows)
			if err != nil {
				return fmt.Errorf("record: %w", err)
			}
			if err := save(file, recordings); err != nil {
				return err
			}
			if err := compareResponses(ctx, all[0], recordings, rows); err != nil {
				return err
			}
			p, err = startBare(ctx, own, "replay", string(e), copies[name].address, file)
			if err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
		all = append(all, contender{name, p})
	}
	if err := measureRows(ctx, o, string(e), rows, all); err != nil || e == sqlite {
		return err
	}
	return compareLimits(ctx, copies[ours].options(o), g, all[0], copies[ours].address)
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
		s, err := r.connect(c, conns)
		if err != nil {
			return err
		}
		defer s.generator.close()
		r.sides = append(r.sides, s)
	}
	for i := -1; i < o.pairs; i++ { // the first turn is a warm-up
		long := o.round
		if i < 0 {
			long *= 4 // every connection prepares its statements
			if r.others != nil {
				long *= 5 // Node.js compiles the code that it runs most
			}
		}
		for n := range r.sides {
			s := r.sides[(i+1+n)%len(r.sides)]
			if err := s.prepare(ctx, r, long); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if err := s.measure(ctx, long); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if i < 0 {
				s.results = results{}
			}
		}
	}
	for _, s := range r.sides {
		if a, b := s.size.median(), r.sides[0].size.median(); a > maxSizes*b+100 || b > maxSizes*a+100 {
			return fmt.Errorf("responses of %s have %.0f bytes, those of %s %.0f", s.name, a, ours, b)
		}
	}
	return nil
}

// maxSizes is the maximum ratio between the sizes of the responses of two contenders. More means
// that one of them returned something else.
const maxSizes = 2

// connect opens the connections to a contender.
func (r *row) connect(c contender, conns int) (*side, error) {
	s := &side{contender: c}
	if r.once == nil || c.name == bare {
		var texts [][]byte
		for _, request := range r.requestsOf(c) {
			texts = append(texts, request.text(c.process.address))
		}
		s.next = func(int) []byte { return texts[rand.IntN(len(texts))] }
	}
	var err error
	s.generator, err = newLoadGenerator(c.process.address, conns, func(conn int) []byte { return s.next(conn) })
	if err == nil {
		s.generator.status = r.status
	}
	return s, err
}

// oncePerSecond is the number of requests of a turn, for each second that it takes at most, if a
// request can be sent only once.
const oncePerSecond = 500

// prepare makes new requests for a turn, if each can be sent only once.
func (s *side) prepare(ctx context.Context, r *row, round time.Duration) error {
	if r.once == nil || s.name == bare {
		return nil
	}
	made, err := r.once(ctx, s.process.address, max(16, int(oncePerSecond*round.Seconds())))
	if err != nil {
		return err
	}
	texts := make([][]byte, len(made))
	for i, request := range made {
		texts[i] = request.text(s.process.address)
	}
	s.sent = new(atomic.Int64)
	s.next = func(int) []byte {
		if n := s.sent.Add(1); n <= int64(len(texts)) {
			return texts[n-1]
		}
		return nil
	}
	return nil
}

// printRows prints the table.
func printRows(rows []*row, all []contender) {
	head := []string{"Request", "statements", "bytes", "requests/s", "CPU µs"}
	for _, c := range all[1:] {
		head = append(head, "rate/"+c.name, "CPU/"+c.name)
	}
	table := [][]string{head}
	sums, compared := make([]float64, 2*len(all)-2), make([]float64, 2*len(all)-2) // of logarithms
	for _, r := range rows {
		own := r.sides[0]
		cells := []string{r.name, fmt.Sprintf("%.0f", r.statements.median()), fmt.Sprintf("%.0f", own.size.median()),
			fmt.Sprintf("%.0f", own.rate.median()), fmt.Sprintf("%.0f", own.cpu.median())}
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
	mean := []string{"geometric mean", "", "", "", ""}
	for i, sum := range sums {
		mean = append(mean, fmt.Sprintf("%.3f", math.Exp(sum/compared[i])))
	}
	table = append(table, mean)
	printMarkdown(table)
}

// databases are copies of one catalogue.
type databases struct {
	engine
	dir    string
	server string // the PostgreSQL server
	drops  []func() error
}

// copied is one of them, with a folder for its files.
type copied struct{ dir, address string }

func (c *copied) options(o options) options {
	o.dir = c.dir
	return o
}

func newDatabases(ctx context.Context, o options, e engine) (*databases, error) {
	d := &databases{engine: e, dir: o.dir}
	if e == sqlite {
		return d, nil
	}
	// Commits wait until they are on the disk, as in production.
	server, stop, err := pgtest.StartDurable(ctx, o.place)
	if err != nil {
		return nil, err
	}
	d.server, d.drops = server, []func() error{func() error { stop(); return nil }}
	return d, nil
}

func (d *databases) close() (err error) {
	for _, drop := range slices.Backward(d.drops) {
		err = errors.Join(err, drop())
	}
	return err
}

// empty creates an empty database.
func (d *databases) empty(ctx context.Context, name string) (*copied, error) {
	dir := filepath.Join(d.dir, name)
	if err := os.Mkdir(dir, 0o750); err != nil {
		return nil, err
	}
	return d.create(ctx, dir, emptyTemplate)
}

func (d *databases) create(ctx context.Context, dir, template string) (*copied, error) {
	c := &copied{dir, "sqlite:" + filepath.Join(dir, "meshyard.db")}
	if d.engine == sqlite {
		return c, nil
	}
	address, drop, err := newDatabaseOn(ctx, d.server, template)
	if err != nil {
		return nil, err
	}
	c.address, d.drops = address, append(d.drops, drop)
	return c, nil
}

// copy copies a database that is not in use, with its files.
func (d *databases) copy(ctx context.Context, from *copied, name string) (*copied, error) {
	dir := filepath.Join(d.dir, name)
	if err := os.CopyFS(dir, os.DirFS(from.dir)); err != nil {
		return nil, err
	}
	address, err := url.Parse(from.address)
	if err != nil {
		return nil, err
	}
	return d.create(ctx, dir, strings.TrimPrefix(address.Path, "/")+" STRATEGY FILE_COPY")
}
