package webpage

import (
	"bytes"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/markdown"
	"github.com/meshyard/meshyard/internal/web/assets"
	"github.com/meshyard/meshyard/internal/web/language"
)

// Site holds the settings of the operator for the pages.
type Site struct {
	Name  string
	Color config.Color
	Logo  *assets.Asset // nil: none

	logoName string
	welcome  translations
	legal    []translations // by name
}

// translations are the texts of a file in the site folder, by the code of the language. The code is
// empty for the file that has none in its name.
type translations map[string]LegalPage

// in returns the text in a language or, if there is none, the one without a language, or else the
// first one.
func (t translations) in(code string) LegalPage {
	for _, code := range append([]string{code, ""}, slices.Sorted(maps.Keys(t))...) {
		if page, ok := t[code]; ok {
			return page
		}
	}
	return LegalPage{}
}

// Welcome returns the text at the top of the home page in a language. It may be empty.
func (s *Site) Welcome(code string) template.HTML { return s.welcome.in(code).HTML }

// Legal returns the pages of the operator in a language, by name.
func (s *Site) Legal(code string) (pages []LegalPage) {
	for _, t := range s.legal {
		pages = append(pages, t.in(code))
	}
	return pages
}

// LegalPage is a page of the operator such as an imprint, at /legal/NAME.
type LegalPage struct {
	Name  string
	Title string
	HTML  template.HTML
}

const (
	welcomeFile = "welcome" // without the language and .md
	maxLogo     = 1 << 20
	maxMarkdown = 1 << 20
)

var legalName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// NewSite loads the files that the operator configured: a logo, and a folder with Markdown files.
// welcome.md is the text at the top of the home page; each other file becomes a page. welcome.de.md
// is the text for visitors whose language is German. logo and folder may be empty.
func NewSite(name string, color config.Color, logo, folder string) (*Site, error) {
	s := &Site{Name: name, Color: color, welcome: translations{}}
	if logo != "" {
		content, err := readFile(logo, maxLogo)
		if err != nil {
			return nil, fmt.Errorf("--site-logo: %w", err)
		}
		s.logoName = "logo" + strings.ToLower(path.Ext(logo))
		s.Logo = assets.New(s.logoName, content)
		if !strings.HasPrefix(s.Logo.ContentType, "image/") {
			return nil, fmt.Errorf("--site-logo %s: must be an SVG, PNG, JPEG or WebP file", logo)
		}
	}
	if folder == "" {
		return s, nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("--site-folder: %w", err)
	}
	byName := map[string]translations{}
	for _, entry := range entries {
		stem, isMarkdown := strings.CutSuffix(entry.Name(), ".md")
		if !isMarkdown || entry.IsDir() {
			continue
		}
		text, err := readFile(filepath.Join(folder, entry.Name()), maxMarkdown)
		if err != nil {
			return nil, fmt.Errorf("--site-folder: %w", err)
		}
		html := template.HTML(markdown.HTML(string(text)))
		stem, code, hasCode := strings.Cut(stem, ".")
		if hasCode && !slices.ContainsFunc(language.All, func(t *language.Texts) bool { return t.Code == code }) {
			return nil, fmt.Errorf("--site-folder: %s: %q is not the code of a language of the gallery: use %s", entry.Name(),
				code, codes())
		}
		if stem == welcomeFile {
			s.welcome[code] = LegalPage{HTML: html}
			continue
		}
		if !legalName.MatchString(stem) {
			return nil, fmt.Errorf(
				"--site-folder: %s: the name must be lower-case letters, digits, - and _, because it is part of the URL /legal/NAME", entry.Name())
		}
		if byName[stem] == nil {
			byName[stem] = translations{}
		}
		byName[stem][code] = LegalPage{stem, heading(text, stem), html}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		s.legal = append(s.legal, byName[name])
	}
	return s, nil
}

// codes lists the languages of the gallery.
func codes() string {
	var all []string
	for _, t := range language.All {
		all = append(all, t.Code)
	}
	return strings.Join(all, " or ")
}

func readFile(name string, limit int64) ([]byte, error) {
	if info, err := os.Stat(name); err == nil && info.Size() > limit {
		return nil, fmt.Errorf("%s: must be at most %d bytes (got %d)", name, limit, info.Size())
	}
	return os.ReadFile(name)
}

// heading returns the first heading of a Markdown file or, if there is none, its name.
func heading(text []byte, name string) string {
	for line := range bytes.Lines(text) {
		if title, ok := bytes.CutPrefix(line, []byte("# ")); ok {
			return strings.TrimSpace(string(title))
		}
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// logoPrefix is the path of the logo before its version and its name.
const logoPrefix = "/assets/site/"

// LogoPath returns the path of the logo below the base URL.
func (s *Site) LogoPath() string { return logoPrefix + s.Logo.Version + "/" + s.logoName }

// LogoPattern is the pattern for [Site.ServeLogo].
const LogoPattern = "GET " + logoPrefix + "{version}/{name}"

// ServeLogo serves the logo. Its content security policy prevents scripts in a logo that is opened
// directly.
func (s *Site) ServeLogo(w http.ResponseWriter, r *http.Request) {
	if s.Logo == nil || r.PathValue("name") != s.logoName {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	s.Logo.Serve(w, r, r.PathValue("version"))
}

// serveLegal serves a page of the operator. It is always public.
func (o Options) serveLegal(w http.ResponseWriter, r *http.Request, v *view, name string) {
	legal := o.Site.Legal(v.Lang.Code)
	at := slices.IndexFunc(legal, func(l LegalPage) bool { return l.Name == name })
	if at < 0 {
		o.write(w, r, http.StatusNotFound, o.newView(r, missingPage, v.Config.User))
		return
	}
	v.Title, v.Legal = legal[at].Title, legal[at].HTML
	o.write(w, r, http.StatusOK, v)
}

// Theme holds the colors of the operator for style sheets.
type Theme struct{ Accent, Text template.CSS }

// Theme returns the theme, or nil if the operator chose no color.
func (s *Site) Theme() *Theme {
	if !s.Color.IsSet() {
		return nil
	}
	t := &Theme{Accent: template.CSS(s.Color.String()), Text: "#fff"}
	// The luma (ITU-R BT.601) decides whether black or white text is easier to read on the color.
	if 299*int(s.Color.Red)+587*int(s.Color.Green)+114*int(s.Color.Blue) > 150_000 {
		t.Text = "#000"
	}
	return t
}
