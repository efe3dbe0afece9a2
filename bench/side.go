package main

import (
	"context"
	"sync/atomic"
	"time"
)

// side is a measured process with its results.
type side struct {
	contender
	generator *loadGenerator
	next      func(conn int) []byte // the next request of a connection
	sent      *atomic.Int64         // of the requests of a turn that can be sent only once
	results
}

// results are those of all turns.
type results struct {
	rate, median series // requests/s, ms
	cpu          series // processor time of the process in µs for each request
	size         series // bytes of a response
}

// measure sends requests for a duration and records the results.
func (s *side) measure(ctx context.Context, long time.Duration) error {
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
