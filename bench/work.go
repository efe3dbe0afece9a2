package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"
)

// work is a row of the table. All servers that support its requests must return the same data.
type work struct {
	name     string
	conns    int                     // number of connections that send requests
	status   int                     // expected status of the responses
	wanted   float64                 // minimum of ours/limit; 0: no target
	requests map[string][]request    // by contender; equal indexes have equal responses
	between  func() error            // runs before each turn; nil: nothing
	recorded func() (n int, e error) // counts rows, to which each request adds one; nil: none

	sides map[string]*side
}

// run compares the responses of all servers, and then measures the servers in turns.
func (w *work) run(ctx context.Context, o options, all *contenders, token string, tokens []string) error {
	if err := w.compareResponses(ctx, all, token); err != nil {
		return err
	}
	before := 0
	if w.recorded != nil {
		var err error
		if before, err = w.recorded(); err != nil {
			return err
		}
	}
	var names []string
	w.sides = make(map[string]*side)
	for _, c := range all.all() {
		if w.requests[c.name] == nil {
			continue
		}
		s, err := w.connect(c, tokens)
		if err != nil {
			return err
		}
		defer s.generator.close()
		got, err := s.generator.run(ctx, min(warmUp, 4*o.round))
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		before += got.requests
		names, w.sides[c.name] = append(names, c.name), s
	}
	for i := range o.pairs {
		for n := range names {
			if w.between != nil {
				if err := w.between(); err != nil {
					return err
				}
			}
			name := names[(i+n)%len(names)]
			if err := w.sides[name].measure(ctx, o.round); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if err := w.compareSizes(); err != nil || w.recorded == nil {
		return err
	}
	want := before
	for _, s := range w.sides {
		want += s.requests
	}
	got, err := w.recorded()
	if err == nil && got != want {
		err = fmt.Errorf("%d recorded, want %d", got, want)
	}
	return err
}

// warmUp is how long each server is used before it is measured, or four turns if that is shorter.
// In the first seconds, the Node.js JIT compiler compiles the hot code.
const warmUp = 5 * time.Second

// connect opens the connections to a server. Each connection has its own requests and a token;
// tokens are shared if there are more connections than tokens.
func (w *work) connect(c contender, tokens []string) (*side, error) {
	requests := w.requests[c.name]
	each := len(requests) / w.conns
	texts := make([][][]byte, w.conns)
	for conn := range texts {
		for _, r := range requests[conn*each : (conn+1)*each] {
			texts[conn] = append(texts[conn], r.text(c.process.address, tokens[conn%len(tokens)]))
		}
	}
	generator, err := newLoadGenerator(c.process.address, w.conns, func(conn int) []byte { return texts[conn][rand.IntN(each)] })
	if err != nil {
		return nil, err
	}
	generator.status = w.status
	return &side{process: c.process, generator: generator}, nil
}

// maxSizes is the maximum ratio between the response sizes of our server and another.
const maxSizes = 2

// compareSizes checks that the responses during the measurement had similar sizes, to detect a
// server that returned errors.
func (w *work) compareSizes() error {
	own := w.sides[ours].size
	for name, s := range w.sides {
		for i, size := range s.size {
			if size > maxSizes*own[i] || own[i] > maxSizes*size {
				return fmt.Errorf("responses of %s have %.0f bytes, ours %.0f", name, size, own[i])
			}
		}
	}
	return nil
}

func printWorks(works []*work, all *contenders) {
	head := []string{"Work", "limit/s", "ours/s"}
	for _, p := range all.peers {
		head = append(head, p.name+"/s")
	}
	rows := [][]string{append(head, "ours/limit", "wanted", "ours/best peer", "bytes of ours")}
	for _, w := range works {
		least, own := w.sides[limit], w.sides[ours]
		row := []string{w.name, fmt.Sprintf("%.0f", least.rate.median()), fmt.Sprintf("%.0f", own.rate.median())}
		best := "–"
		var beaten series
		for _, p := range all.peers {
			s := w.sides[p.name]
			if s == nil {
				row = append(row, "–")
				continue
			}
			row = append(row, fmt.Sprintf("%.0f", s.rate.median()))
			if ratio := own.rate.over(s.rate); beaten == nil || ratio.median() < beaten.median() {
				beaten, best = ratio, ratio.spread()
			}
		}
		ratio := own.rate.over(least.rate)
		wanted := "–"
		if w.wanted > 0 {
			wanted = fmt.Sprintf("≥ %.2g, %s", w.wanted, strings.ToLower(outcome(ratio.median() >= w.wanted)))
		}
		rows = append(rows, append(row, ratio.spread(), wanted, best, fmt.Sprintf("%.0f", own.size.median())))
	}
	printMarkdown(rows)
}

// spread returns the median with the minimum and the maximum.
func (s series) spread() string {
	return fmt.Sprintf("%.2f (%.2f–%.2f)", s.median(), slices.Min(s), slices.Max(s))
}

// compared is the number of responses of each server that are compared.
const compared = 16

// compareResponses checks that the responses of all servers have the same data.
func (w *work) compareResponses(ctx context.Context, all *contenders, token string) error {
	for range compared {
		i := rand.IntN(len(w.requests[ours]))
		headers, body, err := w.requests[ours][i].send(ctx, all.ours.process.address, token)
		if err != nil {
			return err
		}
		want, err := plain(body)
		if err != nil {
			return err
		}
		for _, c := range all.all() {
			if w.requests[c.name] == nil || c.name == ours {
				continue
			}
			r := w.requests[c.name][i]
			theirHeaders, theirs, err := r.send(ctx, c.process.address, token)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			got, err := plain(theirs)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if headers != theirHeaders || !reflect.DeepEqual(want, got) {
				return fmt.Errorf("%s: the responses differ:\n%s", r, difference(headers+"\n"+string(body), theirHeaders+"\n"+string(theirs)))
			}
		}
	}
	return nil
}

// plain decodes JSON. It normalizes values that differ only in form: numbers and strings, times in
// different zones, and the case of enum values.
func plain(text []byte) (any, error) {
	if len(text) == 0 {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	return plainValue(value), err
}

func plainValue(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, each := range v {
			v[key] = plainValue(each)
		}
	case []any:
		for i, each := range v {
			v[i] = plainValue(each)
		}
	case json.Number:
		return v.String()
	case string:
		if at, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return at.UTC().Format(time.RFC3339Nano)
		}
		return strings.ToLower(v)
	}
	return value
}

// difference returns the parts of two texts around their first difference.
func difference(ours, theirs string) string {
	const before, shown = 60, 200
	at := 0
	for at < min(len(ours), len(theirs)) && ours[at] == theirs[at] {
		at++
	}
	part := func(text string) string { return fmt.Sprintf("%.*q", shown, text[max(0, at-before):]) }
	return "ours " + part(ours) + "\ntheirs " + part(theirs)
}
