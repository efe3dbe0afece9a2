// Package contentdigest verifies the digest of a request body in the header Content-Digest
// (RFC 9530).
package contentdigest

import (
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
			return nil, nil, apierror.Invalid(name, "%s: %s must be %d bytes in Base64 between colons (got %q)", name, algorithm, h.Size(), value)
		}
		if strongest == nil || h.Size() > strongest.Size() {
			strongest, want = h, sum
		}
	}
	return strongest, want, nil
}

// Verify makes reading the body of r fail at its end, before io.EOF, if it does not have the digest
// of the header. The error is BadInput. Verify returns one at once if the header is not valid.
func Verify(r *http.Request) error {
	h, want, err := Parse(r.Header.Values(name))
	if err != nil || h == nil || r.Body == nil {
		return err
	}
	r.Body = &body{ReadCloser: r.Body, hash: h, want: want}
	return nil
}

type body struct {
	io.ReadCloser
	hash hash.Hash
	want []byte
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	_, _ = b.hash.Write(p[:n]) // returns no error
	if err == io.EOF && !bytes.Equal(b.hash.Sum(nil), b.want) {
		err = apierror.Invalid(name, "%s: the body of the request has another digest", name)
	}
	return n, err
}
