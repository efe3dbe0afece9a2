package bucket

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

func TestMain(m *testing.M) {
	// The SDK must find these credentials and no others.
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		os.Setenv(name, value)
	}
	os.Exit(m.Run())
}

// fixture is a new bucket, with access to everything in it.
type fixture struct {
	*Bucket
	// all returns the names of everything that is stored, including what Objects does not list.
	all func() []string
	s3  *fakeS3
}

func (f fixture) wantEmpty(t *testing.T) {
	t.Helper()
	if got := f.all(); len(got) > 0 {
		t.Errorf("left in the bucket: %q, want nothing", got)
	}
	for o, err := range f.Objects(t.Context(), "") {
		t.Errorf("Objects yields %+v, %v, want nothing", o, err)
	}
}

func openBucket(t testing.TB, address string) *Bucket {
	t.Helper()
	b, err := Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func newDirectory(t testing.TB) fixture {
	dir := t.TempDir()
	return fixture{Bucket: openBucket(t, "file://"+dir), all: func() []string {
		var names []string
		for _, pattern := range []string{"*", "*/*"} {
			found, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, found...)
		}
		return slices.DeleteFunc(names, func(name string) bool {
			return slices.ContainsFunc(prefixes, func(prefix string) bool { return name == filepath.Join(dir, prefix) })
		})
	}}
}

func newS3(t testing.TB) fixture { return newS3With(t, "") }

// newS3With returns a bucket in a fake S3 server, opened with additional parameters in the URL.
func newS3With(t testing.TB, parameters string) fixture {
	backend := s3mem.New()
	if err := backend.CreateBucket("models"); err != nil {
		t.Fatal(err)
	}
	fake := &fakeS3{Handler: gofakes3.New(backend).Server()}
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	b := openBucket(t, "s3://models?region=us-east-1&use_path_style=true&endpoint="+url.QueryEscape(server.URL)+parameters)
	client := b.store.(*s3Store).client
	name := "models"
	return fixture{Bucket: b, s3: fake, all: func() []string {
		var names []string
		objects, err := client.ListObjectsV2(context.Background(), &s3.ListObjectsV2Input{Bucket: &name})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects.Contents {
			names = append(names, *o.Key)
		}
		multi, err := client.ListMultipartUploads(context.Background(), &s3.ListMultipartUploadsInput{Bucket: &name})
		if err != nil {
			// The fake server returns this error before the first multipart upload.
			if api := smithy.APIError(nil); errors.As(err, &api) && api.ErrorCode() == "NoSuchUpload" {
				return names
			}
			t.Fatal(err)
		}
		for _, u := range multi.Uploads {
			names = append(names, *u.Key+" (multipart)")
		}
		return names
	}}
}

// fakeS3 is gofakes3 with the one request that it lacks, UploadPartCopy, and with failures on
// demand.
type fakeS3 struct {
	http.Handler
	parts atomic.Int64 // number of UploadPart and UploadPartCopy requests so far
	// refuseAfter is how many of these requests succeed, if it is not 0.
	refuseAfter atomic.Int64
	// refuseChecksums makes it reject requests with the checksums that the SDK adds.
	refuseChecksums atomic.Bool
	// before, if set, is called with each request first.
	before func(*http.Request)
}

func (f *fakeS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.before != nil {
		f.before(r)
	}
	if f.refuseChecksums.Load() && hasChecksum(r) {
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusNotImplemented)
		io.WriteString(w, "<Error><Code>NotImplemented</Code><Message>A header you provided implies functionality that is not implemented.</Message></Error>")
		return
	}
	if r.Method == http.MethodPut && r.URL.Query().Has("partNumber") {
		if n, limit := f.parts.Add(1), f.refuseAfter.Load(); limit > 0 && n > limit {
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusForbidden)
			io.WriteString(w, "<Error><Code>AccessDenied</Code></Error>")
			return
		}
		if source := r.Header.Get("X-Amz-Copy-Source"); source != "" {
			f.copyPart(w, r, source)
			return
		}
	}
	f.Handler.ServeHTTP(w, r)
}

func hasChecksum(r *http.Request) bool {
	for name := range r.Header {
		if name == "X-Amz-Trailer" || name == "X-Amz-Sdk-Checksum-Algorithm" || strings.HasPrefix(name, "X-Amz-Checksum-") {
			return true
		}
	}
	return false
}

func (f *fakeS3) copyPart(w http.ResponseWriter, r *http.Request, source string) {
	path, err := url.QueryUnescape(source)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	get := httptest.NewRequest(http.MethodGet, "/"+path, nil)
	get.Header.Set("Range", r.Header.Get("X-Amz-Copy-Source-Range"))
	from := httptest.NewRecorder()
	f.Handler.ServeHTTP(from, get)
	if from.Code != http.StatusPartialContent {
		w.WriteHeader(from.Code)
		io.Copy(w, from.Body)
		return
	}
	put := httptest.NewRequest(http.MethodPut, r.URL.String(), from.Body)
	put.Header.Set("Content-Length", fmt.Sprint(from.Body.Len()))
	to := httptest.NewRecorder()
	f.Handler.ServeHTTP(to, put)
	if to.Code != http.StatusOK {
		w.WriteHeader(to.Code)
		io.Copy(w, to.Body)
		return
	}
	xml.NewEncoder(w).Encode(struct {
		XMLName xml.Name `xml:"CopyPartResult"`
		ETag    string
	}{ETag: to.Header().Get("ETag")})
}
