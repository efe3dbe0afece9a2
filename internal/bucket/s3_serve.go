package bucket

import (
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
)

// signedFor is how long a redirect works: long enough for a slow client to
// follow it, too short to be passed around. A download under way goes on.
const signedFor = 5 * time.Minute

// serve costs one HEAD, as a signed address for nothing would be an answer
// that S3 contradicts. The bytes then do not pass through this process.
func (s *s3Store) serve(w http.ResponseWriter, r *http.Request, key string) error {
	o, err := s.stat(r.Context(), key)
	if err != nil {
		return err
	}
	h := w.Header()
	if etagMatches(r, h.Get("ETag")) {
		h.Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	// An address signed for GET refuses HEAD.
	if r.Method == http.MethodHead {
		h.Set("Accept-Ranges", "bytes")
		h.Set("Content-Length", strconv.FormatInt(o.Size, 10))
		h.Set("Last-Modified", o.ModTime.UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusOK)
		return nil
	}
	address, err := s.bucket.SignedURL(r.Context(), key, &blob.SignedURLOptions{
		Expiry: signedFor,
		Method: http.MethodGet,
		BeforeSign: func(as func(any) bool) error {
			var in *s3.GetObjectInput
			if as(&in) {
				in.ResponseContentType = header(h, "Content-Type")
				in.ResponseContentDisposition = header(h, "Content-Disposition")
				in.ResponseCacheControl = header(h, "Cache-Control")
			}
			return nil
		},
	})
	if err != nil {
		return err
	}
	// These speak of the content, and this answer is not the content.
	for _, name := range []string{"Content-Type", "Content-Disposition", "ETag"} {
		h.Del(name)
	}
	h.Set("Cache-Control", "no-store")
	h.Set("Location", address)
	w.WriteHeader(http.StatusFound)
	return nil
}

func header(h http.Header, name string) *string {
	if v := h.Get(name); v != "" {
		return &v
	}
	return nil
}
