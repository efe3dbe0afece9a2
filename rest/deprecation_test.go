package rest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/graph"
)

// TestDeprecationSignals checks that the schema's reason, OpenAPI, the guide and the headers agree
// on each deprecation, and that exactly the operations that the published interface deprecates are
// deprecated.
func TestDeprecationSignals(t *testing.T) {
	g := graph.New(nil)
	openAPI, err := OpenAPI(g, "")
	if err != nil {
		t.Fatal(err)
	}
	var described struct {
		Paths map[string]map[string]struct {
			OperationID, Description string
			Deprecated               bool
			Successor                string `json:"x-successor"`
		}
	}
	if err := json.Unmarshal(openAPI, &described); err != nil {
		t.Fatal(err)
	}
	guide, err := Guide(g)
	if err != nil {
		t.Fatal(err)
	}
	_, operations, err := loadOperations(g.Schema())
	if err != nil {
		t.Fatal(err)
	}
	var deprecated []string
	for _, r := range routes {
		if r.method == head {
			continue
		}
		row := described.Paths[r.path][strings.ToLower(r.method)]
		if row.Deprecated != (r.deprecated != nil) {
			t.Errorf("%s: OpenAPI says deprecated: %t", r.operation, row.Deprecated)
		}
		h := make(http.Header)
		r.deprecated.announce(h, "http://base", r.operation, time.Time{})
		if r.deprecated == nil {
			if len(h) > 0 {
				t.Errorf("%s: sends %v", r.operation, h)
			}
			continue
		}
		deprecated = append(deprecated, r.operation)
		reason := operations[r.operation].reason(r.deprecated)
		if reason == "" || !strings.Contains(row.Description, reason) || row.Successor != r.deprecated.successor {
			t.Errorf("%s: OpenAPI says %q and leads to %q, for the reason %q and the successor %q", r.operation, row.Description,
				row.Successor, reason, r.deprecated.successor)
		}
		if field := operations[r.operation].field; r.deprecated != toGraphQL &&
			!strings.Contains(g.SDL(), `@deprecated(reason: "`+reason+`")`) {
			t.Errorf("%s: the schema does not give the reason %q for %s", r.operation, reason, field.Name)
		}
		for _, said := range []string{"### " + r.operation + "\n", reason, r.deprecated.successor} {
			if !strings.Contains(string(guide), said) {
				t.Errorf("%s: the guide does not say %q", r.operation, said)
			}
		}
		links := strings.Join(h.Values("Link"), ", ")
		if link := "<http://base/migration#" + r.operation + `>; rel="deprecation"`; !strings.Contains(links, link) ||
			strings.Count(links, "rel=") != 1 {
			t.Errorf("%s: Link is %s, want %s alone", r.operation, links, link)
		}
		if h.Get("Deprecation") == "" || h.Get("Sunset") != "" {
			t.Errorf("%s: Deprecation %q, Sunset %q", r.operation, h.Get("Deprecation"), h.Get("Sunset"))
		}
		r.deprecated.announce(h, "http://base", r.operation, time.Date(2027, 6, 30, 0, 0, 0, 0, time.UTC))
		if got := h.Get("Sunset"); got != "Wed, 30 Jun 2027 00:00:00 GMT" {
			t.Errorf("%s: Sunset %q", r.operation, got)
		}
	}
	slices.Sort(deprecated)
	want := []string{"get_featured", "get_files_file_id_finalize", "get_newest", "get_popular",
		"post_files_0_finalize_files", "post_files_file_id_finalize"}
	if !slices.Equal(deprecated, want) {
		t.Errorf("deprecated are %v, want %v", deprecated, want)
	}
}

func TestParseDate(t *testing.T) {
	now := time.Date(2026, 3, 31, 15, 4, 5, 0, time.UTC)
	for text, want := range map[string]string{
		"2026-01-31T10:00:00 02:00": "2026-01-31T08:00:00Z", "now 1d": "2026-04-01T15:04:05Z",
		"2026-01-31|| 1w": "2026-02-07T00:00:00Z",
		"now":             "2026-03-31T15:04:05Z", "now-7d": "2026-03-24T15:04:05Z", "now/d": "2026-03-31T00:00:00Z",
		"now-1M/M": "2026-03-01T00:00:00Z", "now/w": "2026-03-30T00:00:00Z",
		"now-1y/y": "2025-01-01T00:00:00Z", "now+2h-30m": "2026-03-31T16:34:05Z", "2026-01-31": "2026-01-31T00:00:00Z",
		"2026-01-31T10:00:00+02:00": "2026-01-31T08:00:00Z",
		"2026-01-31||+1w":           "2026-02-07T00:00:00Z", "2026": "2026-01-01T00:00:00Z",
		"2026-02": "2026-02-01T00:00:00Z", "2026-01-31 10:00:00": "2026-01-31T10:00:00Z",
		"1769853600": "2026-01-31T10:00:00Z", "1769853600123": "2026-01-31T10:00:00Z", "17698536001": "", "17698536": "",
		"-1769853600": "",
		"":            "", "yesterday": "", "now-": "", "now-7x": "", "now-9999y": "", "2026-02-30": "", "0000-01-01": "",
		"2026-13": "", "now-99999d": "", "9999-12-31||+1d": "",
		strings.Repeat("now", 1000): "", "now" + strings.Repeat("-1d", 100_000): "2026-03-11T15:04:05Z",
	} {
		got := ""
		if at, ok := parseDate(text, now); ok {
			got = at.UTC().Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%.40q: %s, want %s", text, got, want)
		}
	}
}

// FuzzParseDate checks that parseDate either rejects a text or returns a date that the database can
// store.
func FuzzParseDate(f *testing.F) {
	for _, text := range []string{"now", "now-7d", "now-1M/M", "2026-01-31||+1w/d", "2026-01-31T10:00:00+02:00",
		"0001-01-01||-1s", "9999-12-31||+1d", "now/w", "now+9999y-9999y", " now", "1769853600"} {
		f.Add(text, int64(1_774_969_445))
	}
	f.Fuzz(func(t *testing.T, text string, seconds int64) {
		now := time.Unix(seconds%(1<<36), 0)
		at, ok := parseDate(text, now)
		if ok && (at.Year() < 1 || at.Year() > 9999) {
			t.Errorf("%q at %s is %s", text, now, at)
		}
		again, ok2 := parseDate(text, now)
		if ok != ok2 || ok && !at.Equal(again) {
			t.Errorf("%q at %s is %s, and then %s", text, now, at, again)
		}
		if ok && strings.HasSuffix(strings.TrimSpace(text), "/d") && (at.Hour() != 0 || at.Minute() != 0 ||
			at.Second() != 0 || at.Nanosecond() != 0) {
			t.Errorf("%q at %s is %s, which begins no day", text, now, at)
		}
	})
}
