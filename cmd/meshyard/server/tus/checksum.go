package tus

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"hash"
	"io"
	"net/http"
	"strings"

	"github.com/tus/tusd/v2/pkg/handler"

	"github.com/meshyard/meshyard/internal/httpserver/contentdigest"
	"github.com/meshyard/meshyard/models"
)

// algorithms are those of the header Upload-Checksum.
var algorithms = map[string]func() hash.Hash{"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New,
	"sha512": sha512.New}

const algorithmNames = "md5,sha1,sha256,sha512"

// checksum verifies the body of a request.
type checksum struct {
	hash.Hash
	want []byte
	left int64 // bytes of the body that have not been read; -1: unknown
	// mismatch is the error for other bytes.
	mismatch error
}

type checksumKey struct{}

// withChecksum returns r with the checksum of its body in its context, from Upload-Checksum (tus
// protocol, checksum) or Content-Digest (RFC 9530).
func withChecksum(r *http.Request) (*http.Request, error) {
	var c *checksum
	if text := r.Header.Get("Upload-Checksum"); text != "" {
		name, sum, _ := strings.Cut(text, " ")
		create, ok := algorithms[strings.ToLower(name)]
		want, err := base64.StdEncoding.DecodeString(strings.TrimSpace(sum))
		if !ok || err != nil {
			return r, &models.Error{Code: models.BadInput, Field: "Upload-Checksum",
				Message: "Upload-Checksum: must be one of " + algorithmNames + ", a space and the checksum in Base64"}
		}
		c = &checksum{create(), want, r.ContentLength, handler.NewError("ERR_CHECKSUM_MISMATCH",
			"the checksum of the request does not match its body: no byte was stored", checksumMismatch)}
	} else if h, want, err := contentdigest.Parse(r.Header.Values("Content-Digest")); err != nil {
		return r, err
	} else if h != nil {
		c = &checksum{h, want, r.ContentLength, contentdigest.Mismatch()}
	}
	if c == nil {
		return r, nil
	}
	return r.WithContext(context.WithValue(r.Context(), checksumKey{}, c)), nil
}

// over returns a reader of the body that hashes what is read. tusd returns io.EOF also if the body
// ends early.
func (c *checksum) over(body io.Reader) io.Reader { return &hashed{c, body} }

type hashed struct {
	*checksum
	body io.Reader
}

func (h *hashed) Read(p []byte) (int, error) {
	n, err := h.body.Read(p)
	_, _ = h.checksum.Write(p[:n]) // returns no error
	if h.left > 0 {
		h.left -= int64(n)
	}
	if err == io.EOF && h.left > 0 {
		err = handler.ErrUnexpectedEOF
	}
	return n, err
}

// verify returns an error if the bytes that were written to c do not have the checksum.
func (c *checksum) verify() error {
	if subtle.ConstantTimeCompare(c.Sum(nil), c.want) != 1 {
		return c.mismatch
	}
	return nil
}
