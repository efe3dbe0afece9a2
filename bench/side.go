package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// side is a contender in a row of the table, with its results.
type side struct {
	contender
	row       *row
	generator *loadGenerator // nil before the first turn
	texts     [][]byte       // of the requests
	sent      atomic.Int64   // of those that can be sent only once

	results
}

// results are those of all turns.
type results struct {
	rate, median series // requests/s, ms
	cpu          series // processor time of the process in µs for each request
	size         series // bytes of a response
}

// oncePerSecond is the number of requests for each second of a turn, if a request can be sent only
// once.
const oncePerSecond = 500

// turn sends requests for a duration and adds the results.
func (s *side) turn(ctx context.Context, conns int, long time.Duration) error {
	if err := s.measure(ctx, conns, long); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

func (s *side) measure(ctx context.Context, conns int, long time.Duration) error {
	requests, once := s.row.requestsOf(s.contender), s.row.once != nil && s.name != bare
	if once {
		var err error
		if requests, err = s.row.once(ctx, s.process.address, max(16, int(oncePerSecond*long.Seconds()))); err != nil {
			return err
		}
	}
	if once || s.texts == nil {
		s.texts = nil
		for _, r := range requests {
			s.texts = append(s.texts, r.text(s.process.address))
		}
		s.sent.Store(0)
	}
	if s.generator == nil { // not earlier: the server closes connections that send nothing
		var err error
		s.generator, err = newLoadGenerator(s.process.address, conns, func(int) []byte {
			if !once {
				return s.texts[rand.IntN(len(s.texts))]
			}
			if n := s.sent.Add(1); n <= int64(len(s.texts)) {
				return s.texts[n-1]
			}
			return nil
		})
		if err != nil {
			return err
		}
		s.generator.status = s.row.status
	}
	before, err := s.process.usage()
	if err != nil {
		return err
	}
	got, err := s.generator.run(ctx, long)
	if err != nil {
		return err
	}
	after, err := s.process.usage()
	if err != nil {
		return err
	}
	s.rate = append(s.rate, got.rate)
	s.cpu = append(s.cpu, float64((after.cpu-before.cpu).Microseconds())/float64(got.requests))
	s.median = append(s.median, got.median.Seconds()*1000)
	s.size = append(s.size, got.size)
	return nil
}

func (s *side) close() {
	if s.generator != nil {
		s.generator.close()
	}
}
