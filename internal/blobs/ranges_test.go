package blobs

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestNumberOfRanges checks that a request for more than maxRanges ranges gets the whole file.
func TestNumberOfRanges(t *testing.T) {
	for n, want := range map[int]int{1: http.StatusPartialContent, maxRanges: http.StatusPartialContent, maxRanges +
		1: http.StatusOK} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Range", "bytes="+strings.TrimSuffix(strings.Repeat("0-0,", n), ","))
		tidyRange(r.Header)
		w := httptest.NewRecorder()
		http.ServeContent(w, r, "a.bin", time.Time{}, bytes.NewReader(make([]byte, 1000)))
		if w.Code != want {
			t.Errorf("%d ranges: got %d, want %d", n, w.Code, want)
		}
	}
}

// FuzzRange checks that for any header Range the response is the whole file, the requested parts of
// it, or 416.
func FuzzRange(f *testing.F) {
	content := make([]byte, 1000)
	for i := range content {
		content[i] = byte(i * 7)
	}
	for _, value := range []string{
		"bytes=0-99", "bytes=-5", "bytes=990-", "bytes=5-2", "bytes=0-0,2-3", "bytes=1000-", "bytes=-0", "BYTES=1-2",
		"bytes=99999999999999999999-", "bytes=0-99999999999999999999999",
		"bytes=,,1-2,", "lines=1-2", "bytes=1-2-3", "bytes= 1-2", "bytes=" + strings.Repeat("0-,", 20), "bytes=\x00", "",
	} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Range", value)
		tidyRange(r.Header)
		w := httptest.NewRecorder()
		http.ServeContent(w, r, "a.bin", time.Time{}, bytes.NewReader(content))
		body, _ := io.ReadAll(w.Body)
		switch w.Code {
		case http.StatusOK:
			if !bytes.Equal(body, content) {
				t.Errorf("Range: %q: %d bytes of another content", value, len(body))
			}
		case http.StatusPartialContent:
			var first, last, size int
			if n, _ := fmt.Sscanf(w.Header().Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &size); n == 3 {
				if first < 0 || last < first || last >= size || size != len(content) || !bytes.Equal(body, content[first:last+1]) {
					t.Errorf("Range: %q: %s and %d bytes", value, w.Header().Get("Content-Range"), len(body))
				}
			} else if !strings.HasPrefix(w.Header().Get("Content-Type"), "multipart/byteranges") ||
				len(body) > len(content)+maxRanges*200 {
				t.Errorf("Range: %q: %v and %d bytes", value, w.Header(), len(body))
			}
		case http.StatusRequestedRangeNotSatisfiable:
		default:
			t.Errorf("Range: %q: %d", value, w.Code)
		}
	})
}
