package pages

import (
	"html"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
)

// TestHostileBaseURL checks that the content of BaseURL is escaped in the page, and in the example
// commands that users paste into a shell.
func TestHostileBaseURL(t *testing.T) {
	t.Parallel()
	ran := filepath.Join(t.TempDir(), "ran")
	for _, hostile := range []string{
		`https://example.org/"><script>alert(1)</script>`,
		`https://example.org/' onmouseover='alert(1)`,
		`javascript:alert(1)//`,
		`https://example.org/'; touch ` + ran + `; '`,
		"https://example.org/{{.Nonce}}`id`$(id)",
		"\x00:not an address",
	} {
		o := options
		o.BaseURL = hostile
		for _, target := range []string{"/developers", "/reference", "/migration"} {
			page := serve(t, o, "GET", target, nil).Body.String()
			plain := serve(t, options, "GET", target, nil).Body.String()
			tags := regexp.MustCompile(`<[a-z/!]+`)
			if got, want := len(tags.FindAllString(page, -1)), len(tags.FindAllString(plain, -1)); got != want {
				t.Errorf("%s at %q: got %d tags, want %d", target, hostile, got, want)
			}
			if bad := regexp.MustCompile(`<[^>]* on[a-z]+=|(?:href|src)="(?:[a-z]+:|//)`).FindString(page); bad != "" {
				t.Errorf("%s at %q: found %q", target, hostile, bad)
			}
		}
		if strings.Contains(hostile, "\x00") {
			continue // HTML cannot contain this character
		}
		page := html.UnescapeString(serve(t, o, "GET", "/developers", nil).Body.String())
		_, command, _ := strings.Cut(page, "role } }\"}' \\\n")
		command, _, _ = strings.Cut(command, "\n")
		out, err := exec.Command("sh", "-c", "printf %s "+command).Output()
		if err != nil || string(out) != hostile+"/graphql" {
			t.Errorf("a shell reads %q as %q, %v", command, out, err)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a shell ran what stood in BaseURL")
	}
}

func TestLeftOut(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		o        Options
		absent   string
		presents bool
	}{
		{"open", options, "graphiql", true},
		{"hardened", Options{BaseURL: base, Hardened: true, Guide: options.Guide}, "graphiql", false},
		{"open", options, "schema.graphql", true},
		{"hardened", Options{BaseURL: base, Hardened: true, Guide: options.Guide}, "schema.graphql", false},
		{"guided", options, "migration", true},
		{"no guide", Options{BaseURL: base}, "migration", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for _, target := range []string{"/developers", "/reference"} {
				if target == "/reference" && tc.absent == "schema.graphql" {
					continue // only /developers mentions it
				}
				page := strings.ToLower(serve(t, tc.o, "GET", target, nil).Body.String())
				if got := strings.Contains(page, tc.absent); got != tc.presents {
					t.Errorf("%s: names %s: got %t, want %t", target, tc.absent, got, tc.presents)
				}
			}
		})
	}
	if w := serve(t, Options{BaseURL: base}, "GET", "/migration", nil); w.Code != http.StatusNotFound {
		t.Errorf("without a guide: got %d, want 404", w.Code)
	}
}

func TestHomePageHasLinks(t *testing.T) {
	t.Parallel()
	page := serve(t, options, "GET", "/developers", nil).Body.String()
	for _, want := range []string{
		`<h1>`, `<main id="main"`, `<nav aria-label=`, `href="/login"`, `href="/login/tokens"`, "meshyard token create NAME",
		`href="/graphiql"`, `href="/reference"`, `href="/openapi.json"`, `href="/.well-known/oauth-authorization-server"`,
		`href="/migration"`, `href="/schema.graphql"`, `href="/healthz"`, `href="/readyz"`,
		html.EscapeString("'" + base + "/graphql'"),
	} {
		if !strings.Contains(page, want) {
			t.Errorf("want %s in\n%s", want, page)
		}
	}
}

// TestDevelopersPageShowsRegisteredDocument checks that /developers shows the document that a
// hardened server accepts.
func TestDevelopersPageShowsRegisteredDocument(t *testing.T) {
	t.Parallel()
	if page := serve(t, options, "GET", "/developers", nil).Body.String(); !strings.Contains(page,
		`"query": "`+ExampleDocument+`"`) {
		t.Error("the page shows another document")
	}
}

// TestSignedIn checks that the pages show the name of the signed-in user, escaped, and otherwise a
// link to the sign-in page.
func TestSignedIn(t *testing.T) {
	t.Parallel()
	o := options
	o.SignedIn = func(r *http.Request) (auth.SignedIn, bool) {
		name := r.Header.Get("Test-User")
		return auth.SignedIn{Username: name}, name != ""
	}
	for _, target := range []string{"/developers", "/reference"} {
		if page := serve(t, o, "GET", target, nil).Body.String(); !strings.Contains(page, `href="/login`) ||
			strings.Contains(page, "are sent with your account") {
			t.Errorf("%s for nobody: %s", target, page)
		}
		page := serve(t, o, "GET", target, http.Header{"Test-User": {"<b>ada"}}).Body.String()
		if !strings.Contains(page, "&lt;b&gt;ada") || strings.Contains(page, "Sign in") {
			t.Errorf("%s for ada: %s", target, page)
		}
	}
}
