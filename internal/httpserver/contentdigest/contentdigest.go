// Package contentdigest verifies the digest of a request body in the header Content-Digest
// (RFC 9530).
package contentdigest

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"hash"
	"io"
	"net/http"
	"strings"

	"github.com/meshyard/meshyard/internal/apierror"
)

const name = "Content-Digest"

// Parse returns the strongest digest that the lines of the header have, and its hash function. It
// returns nil if there is none, or none with a known algorithm: those are ignored (RFC 9530,
// section 2). It returns BadInput if the header is not valid.
func Parse(lines []string) (hash.Hash, []byte, error) {
	var strongest hash.Hash
	var want []byte
	for entry := range strings.SplitSeq(strings.Join(lines, ","), ",") {
		algorithm, value, _ := strings.Cut(strings.TrimSpace(entry), "=")
		var h hash.Hash
		switch strings.ToLower(algorithm) {
		case "sha-256":
			h = sha256.New()
		case "sha-512":
			h = sha512.New()
		default:
			continue
		}
		value, _, _ = strings.Cut(value, ";") // parameters
		sum, err := base64.StdEncoding.DecodeString(strings.Trim(value, ":"))
		if err != nil || len(sum) != h.Size() || !strings.HasPrefix(value, ":") || !strings.HasSuffix(value, ":") {
			return nil, nil, apierror.Invalid(name, "%s: %s must be %d bytes in Base64 between colons (got %q)", name, algorithm,
				h.Size(), value)
		}
		if strongest == nil || h.Size() > strongest.Size() {
			strongest, want = h, sum
		}
	}
	return strongest, want, nil
}

// lookahead is how many bytes before the end of a body it is verified. What follows a file in a
// multipart body is shorter, so the file is refused before it has been read completely.
const lookahead = 4 << 10

// Mismatch is the error for a body that does not have the digest.
func Mismatch() error {
	return apierror.Invalid(name, "%s: the body of the request has another digest, so nothing was stored", name)
}

// Verify makes reading the last bytes of the body of r fail with [Mismatch] if the body does not
// have the digest of the header. It returns BadInput if the header is not valid.
func Verify(r *http.Request) error {
	h, want, err := Parse(r.Header.Values(name))
	if err != nil || h == nil || r.Body == nil {
		return err
	}
	r.Body = &body{Closer: r.Body, buffered: bufio.NewReaderSize(r.Body, 2*lookahead), hash: h, want: want}
	return nil
}

type body struct {
	io.Closer
	buffered *bufio.Reader
	hash     hash.Hash
	want     []byte
	ended    bool // all remaining bytes are in the buffer, and were hashed
	err      error
}

func (b *body) Read(p []byte) (int, error) {
	if !b.ended {
		if rest, err := b.buffered.Peek(lookahead + 1); err == io.EOF {
			b.ended = true
			_, _ = b.hash.Write(rest) // returns no error
			if !bytes.Equal(b.hash.Sum(nil), b.want) {
				b.err = Mismatch()
			}
		}
	}
	if b.err != nil {
		return 0, b.err
	}
	if !b.ended && b.buffered.Buffered() > lookahead {
		p = p[:min(len(p), b.buffered.Buffered()-lookahead)]
	}
	n, err := b.buffered.Read(p)
	if !b.ended {
		_, _ = b.hash.Write(p[:n])
	}
	return n, err
}
