package pages

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestGuide(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, base, text, want string }{
		{"operation", "", "### get_newest",
			`<h3 id="get_newest">get_newest <a href="#get_newest" class="anchor" title="Link to this section">#</a></h3>`},
		{"operation in code", "", "## `post_files_0_upload_file`",
			`<h2 id="post_files_0_upload_file"><code>post_files_0_upload_file</code>`},
		{"operation twice", "", "## get_newest\n## get_newest", `<h2 id="get-newest">`},
		{"operation and more", "", "## What get_newest does", `<h2 id="what-get-newest-does">`},
		{"path", "", "## /files", `<h2 id="files">`},
		{"words twice", "", "## Two words\n## Two words", `<h2 id="two-words-1">`},
		{"table", "", "| A | B |\n|---|---|\n| `a\\|b` | 2 |",
			"<div class=\"wide\" role=\"group\" aria-label=\"Table\" tabindex=\"0\"><table>\n<thead>\n<tr>\n<th>A</th>"},
		{"code", "", "```graphql\n{ me { id } } # <b>\n```",
			`<pre tabindex="0"><code class="language-graphql">{ me { id } } # &lt;b&gt;`},
		{"path of this server", "/models", "[schema](/schema.graphql)", `<a href="/models/schema.graphql">`},
		{"place in the guide", "/models", "[newest](#get_newest)", `<a href="#get_newest">`},
		{"another host", "/models", "[host](//example.org)", `<a href="//example.org">`},
		{"a tag", "", "a <b onclick='x'>b</b>", "<!-- raw HTML omitted -->b<!-- raw HTML omitted -->"},
		{"a script", "", "[x](javascript:alert(1))", `<a href="">x</a>`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			g, err := renderGuide([]byte(tc.text), tc.base)
			if err != nil || !strings.Contains(string(g.HTML), tc.want) {
				t.Errorf("got %s, %v, want %s in it", g.HTML, err, tc.want)
			}
		})
	}
}

func TestGuideContents(t *testing.T) {
	t.Parallel()
	g, err := renderGuide([]byte("# Title\n\n## A *b* `c` & \\_d\n\n### get_newest\n\n#### Deeper\n"), "")
	if err != nil {
		t.Fatal(err)
	}
	want := []heading{{"a-b-c---d", "A b c & _d", 2}, {"get_newest", "get_newest", 3}}
	if !slices.Equal(g.Contents, want) || !g.Titled {
		t.Errorf("got %+v, titled %t, want %+v, titled", g.Contents, g.Titled, want)
	}
}

// TestGuideFails checks that an error of Options.Guide is logged, and that the next request calls
// it again.
func TestGuideFails(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(before)
	calls := 0
	h := Handler(Options{Guide: func() ([]byte, error) {
		if calls++; calls == 1 {
			return nil, errors.New("no guide yet")
		}
		return []byte("# Guide"), nil
	}})
	if w := ask(h, "GET", "/migration", nil); w.Code != http.StatusInternalServerError ||
		strings.Contains(w.Body.String(), "no guide yet") {
		t.Errorf("the first request got %d %s, want 500 without the cause", w.Code, w.Body)
	}
	if !strings.Contains(log.String(), "no guide yet") {
		t.Errorf("the log is %q, want the cause in it", log.String())
	}
	if w := ask(h, "GET", "/migration", nil); w.Code != http.StatusOK {
		t.Errorf("the second request got %d %s, want 200", w.Code, w.Body)
	}
}

// TestGuideOnce checks that Options.Guide is called once, however often the page is requested.
func TestGuideOnce(t *testing.T) {
	t.Parallel()
	asked := 0
	h := Handler(Options{Guide: func() ([]byte, error) { asked++; return []byte("text without a title"), nil }})
	for range 3 {
		w := ask(h, "GET", "/migration", nil)
		if page := w.Body.String(); strings.Count(page, "<h1>") != 1 ||
			!strings.Contains(page, "<p>text without a title</p>") {
			t.Errorf("want the text under one title in\n%s", page)
		}
	}
	if asked != 1 {
		t.Errorf("the guide was asked for %d times", asked)
	}
}
