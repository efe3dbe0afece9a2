package bucket

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"runtime"
	"sync"
)

const (
	chunkSize = 128 << 10
	maxChunks = 4
)

// hashing limits how many chunks of all uploads are hashed concurrently.
var hashing = newHashLimiter(runtime.NumCPU())

// hashLimiter is a semaphore that limits how many chunks are hashed concurrently. Without it, the
// goroutines of many uploads, which are always runnable, would delay requests in the queue of the
// Go scheduler.
type hashLimiter struct {
	processors int
	mu         sync.Mutex
	free       sync.Cond
	uploads    int // in progress
	running    int // chunks being hashed
}

func newHashLimiter(processors int) *hashLimiter {
	t := &hashLimiter{processors: processors}
	t.free.L = &t.mu
	return t
}

// atOnce returns how many chunks may be hashed concurrently. A single upload uses all processors.
// Several uploads leave one processor free, because the Go scheduler polls the network only when a
// processor has no other work.
func (t *hashLimiter) atOnce() int {
	if t.uploads > 1 {
		return max(t.processors-1, 1)
	}
	return t.processors
}

func (t *hashLimiter) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.uploads++
}

func (t *hashLimiter) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.uploads--
	t.free.Broadcast()
}

// write hashes a chunk once the limit permits it, and then yields the processor to other
// goroutines.
func (t *hashLimiter) write(h hash.Hash, c *chunk) {
	t.mu.Lock()
	for t.running >= t.atOnce() {
		t.free.Wait()
	}
	t.running++
	t.mu.Unlock()
	h.Write(c.bytes())
	t.mu.Lock()
	t.running--
	t.mu.Unlock()
	t.free.Signal()
	runtime.Gosched()
}

// chunk is a block of an upload.
type chunk struct {
	n   int
	buf [chunkSize]byte
}

func (c *chunk) bytes() []byte { return c.buf[:c.n] }

var chunks = sync.Pool{New: func() any { return new(chunk) }}

// digest computes hashes while the upload is being written. Each chunk passes from the writer
// through SHA-256 and then MD5, each in its own goroutine, and back to the writer. So an upload
// takes as long as the slowest of the three and not their sum. Because the order is fixed, no
// reference counting is needed.
type digest struct {
	sha, md5 hash.Hash
	in, free chan *chunk
	taken    int // chunks taken from the pool
	stopped  bool
	done     chan struct{}
}

func startDigest() *digest {
	// Sends never block, because each channel has room for all maxChunks chunks. So the goroutines end
	// when in is closed, even if nothing receives from them.
	d := &digest{
		sha:  sha256.New(),
		md5:  md5.New(),
		in:   make(chan *chunk, maxChunks),
		free: make(chan *chunk, maxChunks),
		done: make(chan struct{}),
	}
	next := make(chan *chunk, maxChunks)
	hashing.begin()
	go func() {
		defer close(next)
		for c := range d.in {
			hashing.write(d.sha, c)
			next <- c
		}
	}()
	go func() {
		defer close(d.done)
		defer hashing.end()
		for c := range next {
			hashing.write(d.md5, c)
			d.free <- c
		}
	}()
	return d
}

// chunk returns a chunk to fill. It waits if all are in use. A small upload allocates only one.
func (d *digest) chunk() *chunk {
	select {
	case c := <-d.free:
		return c
	default:
	}
	if d.taken < maxChunks {
		d.taken++
		return chunks.Get().(*chunk)
	}
	return <-d.free
}

// add passes on a chunk, which must not be modified from now on.
func (d *digest) add(c *chunk) { d.in <- c }

// stop waits until everything is hashed. It is idempotent.
func (d *digest) stop() {
	if d.stopped {
		return
	}
	d.stopped = true
	close(d.in)
	<-d.done
	close(d.free)
	for c := range d.free {
		chunks.Put(c)
	}
}

// sums stops the digest and returns both hashes in hex.
func (d *digest) sums() (sha, md5 string) {
	d.stop()
	return hex.EncodeToString(d.sha.Sum(nil)), hex.EncodeToString(d.md5.Sum(nil))
}
