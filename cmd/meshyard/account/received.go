package account

import (
	"crypto/md5"
	"encoding/hex"
	"hash"
	"io"
)

// received measures the bytes of a download. Those that are stored can be fewer, because images are
// stored without their metadata.
type received struct {
	r    io.Reader
	size int64
	sum  hash.Hash
}

func newReceived(r io.Reader) *received { return &received{r: r, sum: md5.New()} }

func (d *received) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	d.size += int64(n)
	d.sum.Write(p[:n])
	return n, err
}

// md5 returns the MD5 of what was read, in hex.
func (d *received) md5() string { return hex.EncodeToString(d.sum.Sum(nil)) }
