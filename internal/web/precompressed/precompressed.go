// Package precompressed serves content that is stored compressed with gzip, so that nothing is
// compressed during a request.
package precompressed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

// Compress compresses content with the highest level of gzip.
func Compress(content []byte) []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is valid
	}
	_, _ = z.Write(content) // a bytes.Buffer returns no errors
	_ = z.Close()
	return b.Bytes()
}

// Serve responds to GET or HEAD with content, which is compressed with gzip: unchanged to clients
// that accept gzip, and decompressed to others. The caller sets the headers that describe the
// content on w beforehand, with a strong ETag; the compressed form gets a different ETag (RFC 9110
// section 8.8.3). Range requests are supported for the compressed form only.
func Serve(w http.ResponseWriter, r *http.Request, content io.ReadSeeker) error {
	h := w.Header()
	h.Add("Vary", "Accept-Encoding")
	if Accepted(r.Header) {
		h.Set("Content-Encoding", "gzip")
		if tag := h.Get("ETag"); tag != "" {
			h.Set("ETag", strings.TrimSuffix(tag, `"`)+`-gzip"`)
		}
		http.ServeContent(w, r, "", time.Time{}, content)
		return nil
	}
	z, err := gzip.NewReader(content)
	if err != nil {
		return err
	}
	http.ServeContent(w, withoutRange(r), "", time.Time{}, &decompressed{Reader: z, source: content})
	return nil
}

// withoutRange returns a request that asks for the whole content.
func withoutRange(r *http.Request) *http.Request {
	if r.Header.Get("Range") == "" {
		return r
	}
	r = r.Clone(r.Context())
	r.Header.Del("Range")
	return r
}

// decompressed lets http.ServeContent determine the size without decompressing: the last four bytes
// of the gzip format contain the size, modulo 4 GiB (RFC 1952 section 2.3.1).
type decompressed struct {
	*gzip.Reader
	source io.ReadSeeker
}

func (d *decompressed) Seek(offset int64, whence int) (int64, error) {
	switch {
	case whence == io.SeekEnd && offset == 0:
		var size [4]byte
		if _, err := d.source.Seek(-int64(len(size)), io.SeekEnd); err != nil {
			return 0, err
		}
		_, err := io.ReadFull(d.source, size[:])
		return int64(binary.LittleEndian.Uint32(size[:])), err
	case whence == io.SeekStart && offset == 0:
		if _, err := d.source.Seek(0, io.SeekStart); err != nil {
			return 0, err
		}
		return 0, d.Reset(d.source)
	}
	return 0, errors.ErrUnsupported
}

// Accepted reports whether a request accepts gzip (RFC 9110 section 12.5.3).
func Accepted(h http.Header) bool {
	any := false
	for one := range strings.SplitSeq(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		name, params, _ := strings.Cut(one, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		if name != "gzip" && name != "x-gzip" && name != "*" {
			continue
		}
		accepted := weight(params) > 0
		if name != "*" {
			return accepted
		}
		any = accepted
	}
	return any
}

// weight returns the q parameter of a coding: 1 if it is absent, 0 if it is not a number.
func weight(params string) float64 {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(param, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				return 0
			}
			return q
		}
	}
	return 1
}
