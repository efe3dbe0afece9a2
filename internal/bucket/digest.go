package bucket

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"sync"
)

const (
	chunkSize = 256 << 10
	maxChunks = 4
)

// chunk is a piece of an upload on its way through the digest.
type chunk struct {
	n   int
	buf [chunkSize]byte
}

func (c *chunk) bytes() []byte { return c.buf[:c.n] }

var chunks = sync.Pool{New: func() any { return new(chunk) }}

// digest hashes beside the writing. Each chunk goes from the writer through
// SHA-256, then MD5, each in a goroutine of its own, and back to the writer;
// so an upload takes as long as the slowest of write, SHA-256 and MD5, and not
// their sum. A chain needs no count of who still reads a chunk.
type digest struct {
	sha, md5 hash.Hash
	in, free chan *chunk
	taken    int // chunks out of the pool
	stopped  bool
	done     chan struct{}
}

func startDigest() *digest {
	// No channel can ever be full: there are only maxChunks chunks. So the
	// goroutines end whenever in is closed, whoever has stopped listening.
	d := &digest{
		sha:  sha256.New(),
		md5:  md5.New(),
		in:   make(chan *chunk, maxChunks),
		free: make(chan *chunk, maxChunks),
		done: make(chan struct{}),
	}
	next := make(chan *chunk, maxChunks)
	go func() {
		defer close(next)
		for c := range d.in {
			d.sha.Write(c.bytes())
			next <- c
		}
	}()
	go func() {
		defer close(d.done)
		for c := range next {
			d.md5.Write(c.bytes())
			d.free <- c
		}
	}()
	return d
}

// chunk returns a chunk to fill, and waits for one to be hashed when all are
// under way. A small upload takes one only.
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

// add hands over a chunk, which may only be read from now on.
func (d *digest) add(c *chunk) { d.in <- c }

// stop waits until all that was added is hashed. It may be repeated.
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

// sums returns both hashes in hex, and stops.
func (d *digest) sums() (sha, md5 string) {
	d.stop()
	return hex.EncodeToString(d.sha.Sum(nil)), hex.EncodeToString(d.md5.Sum(nil))
}
