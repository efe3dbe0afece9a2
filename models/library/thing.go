package library

import (
	"cmp"
	"context"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/meshyard/meshyard/internal/layout"
	"github.com/meshyard/meshyard/internal/license"
	"github.com/meshyard/meshyard/internal/outage"
	"github.com/meshyard/meshyard/models"
)

// otherCategory is the category of things that name none, or one that does not exist.
const otherCategory = "Other"

// prepare sets the new thing of m.
func (sc *scan) prepare(ctx context.Context, m *merge) (err error) {
	n := sc.newThing(m.found)
	m.publish = sc.publishes(m)
	n.Publish = m.publish
	m.prepared, err = sc.core.PrepareThing(ctx, sc.owner, n)
	if models.CodeOf(err) == models.BadInput { // what texts and metadata files say may be wrong
		bare := models.NewThing{Name: n.Name, LicenseID: n.LicenseID, Category: otherCategory, Description: n.Name,
			Publish: n.Publish}
		m.prepared, err = sc.core.PrepareThing(ctx, sc.owner, bare)
	}
	if models.CodeOf(err) == models.BadInput && outage.Of(err) == nil {
		m.place.skip(m.found.Source, "no thing can be created: "+err.Error())
		m.deleted = true
		return nil
	}
	return err
}

// newThing returns what the folder of a thing says about it. Texts that are too long are cut.
func (sc *scan) newThing(t layout.Thing) models.NewThing {
	known := t.License.ID()
	name := cmp.Or(cut(strings.TrimSpace(t.Name), models.MaxName), path.Base(t.Source))
	n := models.NewThing{
		Name: name, LicenseID: string(known), Category: cmp.Or(t.Category, otherCategory), IsNSFW: t.Sensitive,
		Description:  cmp.Or(cut(strings.TrimSpace(t.Description), models.MaxText), name),
		Instructions: cut(t.Instructions, models.MaxText), Tags: t.Tags,
	}
	if t.Creator != "" || t.CreatorURL != "" || t.URL != "" {
		n.Origin = &models.NewOrigin{Creator: optional(cut(t.Creator, models.MaxName)),
			CreatorURL: optional(page(t.CreatorURL)), URL: optional(page(t.URL))}
	}
	return n
}

// publishes reports whether a new thing is published.
func (sc *scan) publishes(m *merge) bool {
	return sc.options.Publish && m.found.License.ID() != license.Unknown &&
		slices.ContainsFunc(m.added, func(f *models.File) bool { return f.Kind == models.Model })
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// cut returns the first characters of a text.
func cut(text string, characters int) string {
	if utf8.RuneCountInString(text) <= characters {
		return text
	}
	return string([]rune(text)[:characters])
}

// page returns a URL if it is one of a web page, or "".
func page(text string) string {
	if u, err := url.Parse(text); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return text
}
