package webpage

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// parts is the sitemap of that number of things.
type parts int

func (n parts) Parts(_ context.Context, size int) (found []SitemapPart, err error) {
	for first := 0; first < int(n); first += size {
		found = append(found, SitemapPart{"things", int64(first / size), min(size, int(n)-first)})
	}
	return found, nil
}

func (n parts) Part(_ context.Context, size int, part SitemapPart) (found []SitemapPage, err error) {
	for i := int(part.Number) * size; i < min(int(n), int(part.Number+1)*size); i++ {
		found = append(found, SitemapPage{Path: fmt.Sprint("/thing:", i+1)})
	}
	return found, nil
}

// TestSitemapIndex checks that a sitemap with too many URLs becomes an index of parts, which
// contain each URL exactly once.
func TestSitemapIndex(t *testing.T) {
	const base = "https://example.org/models"
	o := Options{
		BaseURL: base, AnonymousRead: true, Reserved: func(string) bool { return true }, Sitemap: parts(1_600),
		urlsPerSitemap: 600,
		Run: func(context.Context, string, map[string]any) ([]byte, error) {
			return []byte(`{"categories": []}`), nil
		},
		Fail: func(w http.ResponseWriter, _ *http.Request, err error) {
			status := http.StatusInternalServerError
			if errors.Is(err, ErrNotFound) {
				status = http.StatusNotFound
			}
			http.Error(w, err.Error(), status)
		},
	}
	get := func(path string, status int) (addresses []string) {
		t.Helper()
		w := httptest.NewRecorder()
		Handler(o).ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != status {
			t.Fatalf("%s: got %d, want %d", path, w.Code, status)
		}
		if status != 200 {
			return nil
		}
		var document struct {
			Locations []string `xml:"url>loc"`
			Sitemaps  []string `xml:"sitemap>loc"`
		}
		if err := xml.Unmarshal(w.Body.Bytes(), &document); err != nil {
			t.Fatal(err)
		}
		return append(document.Locations, document.Sitemaps...)
	}
	index := get("/sitemap.xml", 200)
	want := []string{base + "/sitemap.xml?part=pages-0", base + "/sitemap.xml?part=things-0",
		base + "/sitemap.xml?part=things-1", base + "/sitemap.xml?part=things-2"}
	if !slices.Equal(index, want) {
		t.Errorf("the index is %v, want %v", index, want)
	}
	var all []string
	for _, address := range index {
		all = append(all, get(strings.TrimPrefix(address, base), 200)...)
	}
	if slices.Sort(all); len(slices.Compact(all)) != 1_601 {
		t.Errorf("the parts have %d URLs, want 1601", len(all))
	}
	o.Sitemap = parts(50)
	if all := get("/sitemap.xml", 200); len(all) != 51 {
		t.Errorf("a small sitemap has %d URLs, want 51", len(all))
	}
	for _, part := range []string{"things-9", "things-x", "secrets-0", "things"} {
		get("/sitemap.xml?part="+part, 404)
	}
}

// TestFirstText checks the text that describes a page.
func TestFirstText(t *testing.T) {
	long := strings.Repeat("word ", 100)
	for source, want := range map[string]string{
		"<p>A <em>slim</em> vase.</p>\n<p>Print it.</p>": "A slim vase. Print it.", "": "",
		"<ul><li>one</li><li>two</li></ul>": "one two", "a &lt;b&gt; &amp; c": "a <b> & c",
		"<p>" + long + "</p>": strings.TrimSpace(strings.Repeat("word ", 39)) + "…",
	} {
		if got := firstText(source); got != want {
			t.Errorf("%.40s: got %q, want %q", source, got, want)
		}
	}
}
