package signin_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestAppearanceOfSignInPages checks that the pages to sign in and to create an account have the
// logo and the color of the operator, and the color scheme that the visitor chose in the gallery.
func TestAppearanceOfSignInPages(t *testing.T) {
	logo := filepath.Join(t.TempDir(), "logo.svg")
	if err := os.WriteFile(logo,
		[]byte(`<svg xmlns="http://www.w3.org/2000/svg" width="80" height="32"><rect width="80" height="32"/></svg>`),
		0o600); err != nil {
		t.Fatal(err)
	}
	s := servertest.Start(t, "sqlite", func(c *config.Settings) {
		c.SiteLogo, c.Registration = logo, true
		if err := c.SiteColor.UnmarshalText([]byte("#b03060")); err != nil {
			t.Fatal(err)
		}
	})
	visitor := s.Client("")
	get := func(path, scheme string) string {
		t.Helper()
		r := visitor.Request(http.MethodGet, path, nil)
		r.AddCookie(&http.Cookie{Name: "meshyard_theme", Value: scheme})
		return string(visitor.Send(r).Bytes)
	}
	for _, path := range []string{"/login", "/signup", "/login/invitation?token=x", "/login/forgotten"} {
		page := get(path, "dark")
		for _, part := range []string{`<html lang="en" data-theme="dark">`, `<img src="/assets/site/`, `/logo.svg"`,
			`--accent: #b03060; --on-accent: #fff;`} {
			if !strings.Contains(page, part) {
				t.Errorf("%s: the page lacks %s\n%s", path, part, page)
			}
		}
		_, source, _ := strings.Cut(page, `<img src="`)
		source, _, _ = strings.Cut(source, `"`)
		visitor.Get(source).Want(t, 200)
	}
	for _, path := range []string{"/login", "/"} {
		for scheme, want := range map[string]string{"": "", "auto": "", `dark" onload="x`: "", "light": ` data-theme="light"`,
			"dark": ` data-theme="dark"`} {
			if page := get(path, scheme); !strings.Contains(page, `<html lang="en"`+want+">") &&
				!strings.Contains(page, `<html lang="en"`+want+" prefix=") {
				t.Errorf("%s, scheme %q: got %s", path, scheme, page)
			}
		}
	}
}
