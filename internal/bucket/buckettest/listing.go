// Package buckettest provides an S3 service for tests whose listing is generated, so that it can
// have more objects than a test could store.
package buckettest

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/bucket"
)

// Listing is an S3 service with a bucket that has objects below files/, named by numbers that are
// spread evenly.
type Listing struct {
	Objects int       // a multiple of 256
	ModTime time.Time // of each object

	Listed, Removed atomic.Int64
	// OnPage is called for each page of the listing; it may be nil.
	OnPage func()
}

// pageSize is the number of objects of a page of a listing.
const pageSize = 1000

// Name returns the name of an object below files/: its number in the order of the names, in 64 hex
// digits.
func (l *Listing) Name(i int) string {
	perRange := l.Objects / 256
	return fmt.Sprintf("%02x%08x", i/perRange, i%perRange) + strings.Repeat("0", 54)
}

// Open starts the service until the end of the test, and opens its bucket. The AWS SDK needs
// credentials, which the service does not check.
func (l *Listing) Open(t *testing.T) *bucket.Bucket {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	s := httptest.NewServer(l)
	t.Cleanup(s.Close)
	b, err := bucket.Open(t.Context(),
		"s3://meshyard?region=us-east-1&use_path_style=true&endpoint="+url.QueryEscape(s.URL))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

type page struct {
	XMLName               xml.Name `xml:"ListBucketResult"`
	IsTruncated           bool
	NextContinuationToken string `xml:",omitempty"`
	Contents              []object
}

type object struct {
	Key          string
	LastModified string
	Size         int64
	ETag         string
}

// ServeHTTP implements [http.Handler].
func (l *Listing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch q := r.URL.Query(); {
	case r.Method == http.MethodDelete:
		l.Removed.Add(1)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodHead:
		w.Header().Set("Content-Length", "7")
		w.Header().Set("Last-Modified", l.ModTime.UTC().Format(http.TimeFormat))
	case q.Has("uploads"):
		fmt.Fprint(w, "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated></ListMultipartUploadsResult>")
	case q.Get("list-type") == "2":
		l.list(w, q)
	default:
		http.Error(w, "<Error><Code>NoSuchKey</Code></Error>", http.StatusNotFound)
	}
}

// list answers with the objects whose keys begin with a prefix: files/, or that and two hex digits.
func (l *Listing) list(w http.ResponseWriter, q url.Values) {
	if l.OnPage != nil {
		l.OnPage()
	}
	first, end := 0, 0
	if digits, ok := strings.CutPrefix(q.Get("prefix"), bucket.ContentPrefix); ok {
		end = l.Objects
		if n, err := strconv.ParseInt(digits, 16, 32); err == nil {
			first, end = int(n)*(l.Objects/256), int(n+1)*(l.Objects/256)
		}
	}
	if token, err := strconv.Atoi(q.Get("continuation-token")); err == nil {
		first = token
	}
	var p page
	for i := first; i < min(end, first+pageSize); i++ {
		p.Contents = append(p.Contents, object{bucket.ContentPrefix + l.Name(i), l.ModTime.UTC().Format(time.RFC3339), 7,
			`"0"`})
	}
	if p.IsTruncated = first+pageSize < end; p.IsTruncated {
		p.NextContinuationToken = strconv.Itoa(first + pageSize)
	}
	l.Listed.Add(int64(len(p.Contents)))
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(p)
}
