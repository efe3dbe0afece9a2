package server

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// serveMemory is the size of the heap above which the garbage collector works harder.
	serveMemory = 464 << 20

	// A server is idle if it allocates no more than idleAllocations bytes in an idleTime. If it has
	// allocated more than worthReleasing bytes by then, it returns what it does not use.
	idleTime        = 10 * time.Second
	idleAllocations = 4 << 20
	worthReleasing  = 8 << 20
)

// boundMemory makes the garbage collector work harder when many requests use much memory.
// GOMEMLIMIT, if the operator sets it, takes precedence.
func boundMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(serveMemory)
	}
}

// releaseMemory calls release when the server becomes idle, until ctx ends. With debug.FreeOSMemory
// it returns memory to the operating system, where the runtime would collect garbage only after two
// minutes.
func releaseMemory(ctx context.Context, release func()) {
	allocated := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	tick := time.NewTicker(idleTime)
	defer tick.Stop()
	var before, released uint64
	for {
		now := allocated()
		if now-before <= idleAllocations && now-released > worthReleasing {
			release()
			released = now
		}
		before = now
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
