package models

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/license"
)

// NewThing is the input of CreateThing.
type NewThing struct {
	Name         string
	License      License // one of these; LicenseID is an SPDX identifier and has precedence
	LicenseID    string
	Category     string // ID, name or slug
	Description  string
	Instructions string
	SourceURL    string
	Origin       *NewOrigin
	IsWIP        bool
	IsRemix      bool
	IsNSFW       bool
	IsAI         bool
	DetailsParts string // see checkDetails; empty: none
	// PrintSettings replace those in DetailsParts, unless nil.
	PrintSettings *PrintSettings
	Tags          []string
	AncestorIDs   []int64        // the things that it is made from
	Files         []FinalizeFile // pending uploads to finalize in the same transaction
	Publish       bool           // publish the thing, which needs a description and a model
}

// CreateThing creates a draft of the caller, finalizes its files, and publishes it if n.Publish is
// set. It opens a transaction.
func (s *Store) CreateThing(ctx context.Context, caller auth.Caller, n NewThing) (*Thing, error) {
	p, err := s.PrepareThing(ctx, caller, n)
	if err != nil {
		return nil, err
	}
	var promoted []string
	if len(n.Files) > 0 {
		if promoted, err = s.Promote(ctx, caller, n.Files); err != nil {
			return nil, err
		}
	}
	err = s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.Claim(ctx, tx, caller.UserID, Claim{things: 1}); err != nil {
			return err
		}
		return s.InsertThing(ctx, tx, caller, p, func(t *Thing) error {
			if len(n.Files) == 0 {
				return nil
			}
			return s.finalize(ctx, tx, caller, n.Files, Target{Type: OnThing, ID: t.ID})
		})
	})
	if err != nil {
		return nil, err
	}
	s.Sweep(ctx, promoted)
	return s.Thing(ctx, caller, AllThingFields, p.thing.ID)
}

// PreparedThing is a new thing whose input was checked and rendered.
type PreparedThing struct {
	input NewThing
	thing *Thing
	tags  []string
	html  RenderedHTML
}

// PrepareThing checks the input of a new thing of the caller and renders its texts. It returns
// BadInput with all errors.
func (s *Store) PrepareThing(ctx context.Context, caller auth.Caller, n NewThing) (*PreparedThing, error) {
	tags, err := CleanTags(n.Tags)
	err = errors.Join(checkThing(&n.Name, &n.Category, &n.Description, &n.Instructions),
		checkPage("sourceUrl", &n.SourceURL), n.Origin.Check(), n.checkLicense(), err, checkAncestors(n.AncestorIDs),
		checkDetails(&n.DetailsParts), n.PrintSettings.check())
	if err != nil {
		return nil, s.withCategory(ctx, err, &n.Category)
	}
	p := &PreparedThing{input: n, tags: tags}
	if err := errors.Join(s.RenderTo(ctx, &p.html, thingDescription, &n.Description),
		s.RenderTo(ctx, &p.html, thingInstructions, &n.Instructions)); err != nil {
		return nil, err
	}
	if n.PrintSettings != nil {
		if n.DetailsParts, err = n.PrintSettings.in(n.DetailsParts); err != nil {
			return nil, err
		}
	}
	at := Now()
	t := &Thing{
		OwnerID: caller.UserID, Name: n.Name, Description: n.Description,
		Instructions: n.Instructions, SourceURL: n.SourceURL, IsWIP: n.IsWIP, IsNSFW: n.IsNSFW, IsAI: n.IsAI,
		DetailsParts: n.DetailsParts, CreatedAt: at, ModifiedAt: at,
	}
	if n.LicenseID != "" {
		t.setLicense(nil, &n.LicenseID)
	} else {
		t.setLicense(&n.License, nil)
	}
	t.setOrigin(n.Origin, at)
	p.thing = t
	return p, nil
}

// InsertThing inserts a prepared thing of the caller in tx, calls attach, which inserts its files,
// and publishes the thing if its input says so. It does not check quotas. It may be called again if
// tx is repeated.
func (s *Store) InsertThing(ctx context.Context, tx bun.Tx, caller auth.Caller, p *PreparedThing,
	attach func(*Thing) error) error {
	n, t := p.input, p.thing
	t.ID, t.State, t.PublishedAt = 0, Draft, nil // an earlier attempt may have set them
	c, err := FindCategory(ctx, tx, n.Category)
	if err != nil {
		return err
	}
	t.CategoryID, t.IsDerivative = c.ID, n.IsRemix || len(n.AncestorIDs) > 0
	if _, err := p.html.Insert(tx.NewInsert().Model(t)).Exec(ctx); err != nil {
		return err
	}
	if err := SetTags(ctx, tx, t, p.tags); err != nil {
		return err
	}
	if err := s.setAncestors(ctx, tx, caller, t, nil, n.AncestorIDs); err != nil {
		return err
	}
	if err := attach(t); err != nil || !n.Publish {
		return err
	}
	if err := checkPublishable(ctx, tx, t, false); err != nil {
		return err
	}
	return s.ApplyState(ctx, tx, t, Published)
}

// withCategory adds to an error that the category does not exist, so that a form can show all
// errors. nil is valid.
func (s *Store) withCategory(ctx context.Context, err error, which *string) error {
	if which == nil || CheckText("category", *which, MaxName) != nil {
		return err
	}
	_, unknown := FindCategory(ctx, s.DB.Read, *which)
	return errors.Join(err, unknown)
}

// checkThing checks the texts that are not nil.
func checkThing(name, category, description, instructions *string) error {
	return errors.Join(CheckName(name), CheckOptional("category", category, MaxName),
		CheckOptional("description", description, MaxText), CheckOptional("instructions", instructions, MaxText))
}

// maxURL is the maximum number of characters of a URL.
const maxURL = 2_000

// checkLicense returns BadInput if there is no license, or if its identifier is not known.
func (n NewThing) checkLicense() error {
	if n.LicenseID != "" {
		return checkLicense(&n.LicenseID)
	}
	if n.License == "" {
		return Invalid("license", "license: one of license and licenseId is required").WithFieldCode(apierror.FieldRequired)
	}
	return nil
}

// checkPage checks the URL of a page on another site, unless it is nil or empty.
func checkPage(field string, source *string) error {
	if source == nil {
		return nil
	}
	if err := optionalLine(field, source, maxURL); err != nil || *source == "" {
		return err
	}
	u, err := url.Parse(*source)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return Invalid(field, "%s: must be an absolute URL with http or https, without a password", field)
	}
	return nil
}

// noDetails is the value of DetailsParts for a thing without details.
const noDetails = "[]"

// checkDetails checks the sections of details that legacy clients store with a thing, such as print
// settings: a JSON array of objects, which the server does not interpret. It removes insignificant
// whitespace, and replaces an empty text by noDetails.
func checkDetails(details *string) error {
	if details == nil {
		return nil
	}
	if *details == "" {
		*details = noDetails
	}
	if err := CheckText("detailsParts", *details, MaxText); err != nil {
		return err
	}
	var parts []map[string]any
	var compact bytes.Buffer
	err := errors.Join(json.Unmarshal([]byte(*details), &parts), json.Compact(&compact, []byte(*details)))
	isNull := func(part map[string]any) bool { return part == nil }
	if err != nil || parts == nil || slices.ContainsFunc(parts, isNull) {
		return Invalid("detailsParts", "detailsParts: must be a JSON array of objects")
	}
	*details = compact.String()
	return nil
}

// ThingChange is the input of UpdateThing. Nil fields are left unchanged.
type ThingChange struct {
	ID           int64
	Name         *string
	License      *License
	LicenseID    *string // an SPDX identifier; it has precedence
	Category     *string // ID, name or slug
	Description  *string
	Instructions *string
	SourceURL    *string
	Origin       *NewOrigin
	IsWIP        *bool
	IsRemix      *bool // a thing with ancestors is a remix in any case
	IsNSFW       *bool
	IsAI         *bool
	DetailsParts *string // see checkDetails
	// PrintSettings replaces those in the details, unless nil. A zero value removes them.
	PrintSettings *PrintSettings
	Tags          []string // replaces all tags; nil: unchanged
	AncestorIDs   []int64  // replaces all ancestors; nil: unchanged

	AddTags, RemoveTags []string // changes of the tags that the thing has, unless Tags is set
}

// UpdatedThing is the result of [Store.UpdateThing].
type UpdatedThing struct {
	Thing           *Thing
	FromCategoryID  int64   // the category that it was in before
	FromAncestorIDs []int64 // the ancestors that it no longer has
}

// UpdateThing changes a thing of the caller. It returns Forbidden for a thing of another user, and
// for one that is taken down. It opens a transaction.
func (s *Store) UpdateThing(ctx context.Context, caller auth.Caller, c ThingChange) (*UpdatedThing, error) {
	change, err := s.CheckChange(ctx, c)
	if err != nil {
		return nil, err
	}
	var u *UpdatedThing
	err = s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		u, err = s.applyChange(ctx, tx, caller, change)
		return err
	})
	if err != nil {
		return nil, err
	}
	u.Thing, err = s.Thing(ctx, caller, AllThingFields, c.ID)
	return u, err
}

// ChangeThing is UpdateThing in a transaction of the caller. It does not read the thing again.
func (s *Store) ChangeThing(ctx context.Context, tx bun.Tx, caller auth.Caller, c ThingChange) error {
	change, err := s.CheckChange(ctx, c)
	if err != nil {
		return err
	}
	_, err = s.applyChange(ctx, tx, caller, change)
	return err
}

// checkedChange is a ThingChange with valid values.
type checkedChange struct {
	ThingChange
	tags []string // if Tags is not nil
	html RenderedHTML
}

// CheckChange returns BadInput for values that no thing can have, and renders Markdown.
func (s *Store) CheckChange(ctx context.Context, c ThingChange) (*checkedChange, error) {
	change := &checkedChange{ThingChange: c}
	tags, err := CleanTags(c.Tags)
	change.tags = tags
	err = errors.Join(checkThing(c.Name, c.Category, c.Description, c.Instructions), checkPage("sourceUrl", c.SourceURL),
		c.Origin.Check(), checkLicense(c.LicenseID), err, checkAncestors(c.AncestorIDs), checkDetails(c.DetailsParts),
		c.PrintSettings.check())
	if err != nil {
		return nil, s.withCategory(ctx, err, c.Category)
	}
	return change, errors.Join(s.RenderTo(ctx, &change.html, thingDescription, c.Description),
		s.RenderTo(ctx, &change.html, thingInstructions, c.Instructions))
}

// applyChange changes a thing in tx. The result has no Thing.
func (s *Store) applyChange(ctx context.Context, tx bun.Tx, caller auth.Caller,
	c *checkedChange) (*UpdatedThing, error) {
	t, err := s.lockOwnThing(ctx, tx, caller, c.ID)
	if err != nil {
		return nil, err
	}
	u := &UpdatedThing{FromCategoryID: t.CategoryID}
	Assign(&t.Name, c.Name)
	before := t.SPDX()
	t.setLicense(c.License, c.LicenseID)
	Assign(&t.Description, c.Description)
	Assign(&t.Instructions, c.Instructions)
	Assign(&t.SourceURL, c.SourceURL)
	t.setOrigin(c.Origin, Now())
	Assign(&t.IsWIP, c.IsWIP)
	Assign(&t.IsDerivative, c.IsRemix)
	Assign(&t.IsNSFW, c.IsNSFW)
	Assign(&t.IsAI, c.IsAI)
	Assign(&t.DetailsParts, c.DetailsParts)
	if c.PrintSettings != nil {
		if t.DetailsParts, err = c.PrintSettings.in(t.DetailsParts); err != nil {
			return nil, err
		}
	}
	if t.State != Draft && c.LicenseID != nil && t.SPDX() == license.Unknown && before != license.Unknown {
		return nil, Invalid("licenseId", "licenseId: must be known while the thing is published").
			WithFieldCode(apierror.FieldLicenseRequired)
	}
	if t.State != Draft && strings.TrimSpace(t.Description) == "" {
		return nil, Invalid("description", "description: must not be blank while the thing is published").
			WithFieldCode(apierror.FieldRequired)
	}
	if c.Category != nil {
		if err := moveThing(ctx, tx, t, *c.Category); err != nil {
			return nil, err
		}
	}
	if tags, err := c.newTags(ctx, tx); err != nil {
		return nil, err
	} else if tags != nil {
		if err := SetTags(ctx, tx, t, tags); err != nil {
			return nil, err
		}
	}
	if c.AncestorIDs != nil {
		before, err := ancestorIDs(ctx, tx, t.ID)
		if err != nil {
			return nil, err
		}
		if err := s.setAncestors(ctx, tx, caller, t, before, c.AncestorIDs); err != nil {
			return nil, err
		}
		u.FromAncestorIDs = slices.DeleteFunc(before, func(id int64) bool { return slices.Contains(c.AncestorIDs, id) })
	}
	if !t.IsDerivative {
		ancestors, err := ancestorIDs(ctx, tx, t.ID)
		if err != nil {
			return nil, err
		}
		t.IsDerivative = len(ancestors) > 0
	}
	t.ModifiedAt = Now()
	_, err = c.html.Update(tx.NewUpdate().Model(t).
		Column("name", "license", "license_id", "origin_creator", "origin_creator_url", "origin_site", "imported_at",
			"category_id", "description", "instructions", "source_url", "is_wip", "is_nsfw", "is_ai", "details_parts",
			"is_derivative", "modified_at").WherePK()).Exec(ctx)
	if err != nil || t.State != Published {
		return u, err
	}
	return u, s.DB.Index(ctx, tx, ThingIndex, t.ID)
}

// Assign sets a value to another one, unless that is nil.
func Assign[T any](value, to *T) {
	if to != nil {
		*value = *to
	}
}

// moveThing changes the category of a thing, but does not store the thing.
func moveThing(ctx context.Context, tx bun.Tx, t *Thing, which string) error {
	c, err := FindCategory(ctx, tx, which)
	if err != nil || c.ID == t.CategoryID {
		return err
	}
	from := t.CategoryID
	t.CategoryID = c.ID
	if t.State != Published {
		return nil
	}
	return AddCounts(ctx, tx, CategoryThings.By(-1, from), CategoryThings.By(1, c.ID))
}
