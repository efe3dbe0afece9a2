package server

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// serveMemory is the soft memory limit of a server in bytes. Above it, the garbage collector runs
	// more often.
	serveMemory = 464 << 20

	// A server is idle if it allocates at most idleAllocations bytes in an idleTime. An idle server
	// that has allocated more than worthReleasing bytes since the last release returns unused memory
	// to the operating system.
	idleTime        = 10 * time.Second
	idleAllocations = 4 << 20
	worthReleasing  = 8 << 20
)

// boundMemory sets the soft memory limit of the process, so that many requests which use much
// memory make the garbage collector run more often. GOMEMLIMIT, if the operator sets it, takes
// precedence.
func boundMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(serveMemory)
	}
}

// releaseMemory calls release when the server becomes idle, until ctx ends. With debug.FreeOSMemory
// it returns unused memory to the operating system. Without it, the runtime of an idle server would
// collect garbage only after two minutes.
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
