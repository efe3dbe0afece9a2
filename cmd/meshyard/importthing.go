package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/layout"
	"github.com/meshyard/meshyard/internal/license"
	"github.com/meshyard/meshyard/internal/outage"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/collections"
	"github.com/meshyard/meshyard/models/importer"
)

// importing is an import in progress.
type importing struct {
	importOptions
	store  *catalogue.Catalogue
	caller auth.Caller

	seen, added, updated, there, failed, files, skipped int
	collections                                         map[string]int64 // IDs by name
}

func (im *importing) note(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%d: %s\n", im.seen, escaped(fmt.Sprintf(format, args...)))
}

// place imports the things at a place of a source. The error is an outage, or that ctx is done.
func (im *importing) place(ctx context.Context, src source, r layout.Result) error {
	im.skipped += len(r.Skipped)
	for _, s := range r.Skipped {
		fmt.Fprintln(os.Stderr, escaped(path.Join(src.name, s.Source)+": was skipped: "+s.Reason))
	}
	for _, t := range r.Things {
		im.seen++
		err := im.thing(ctx, src, t, r.Skipped)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case outage.Of(err) != nil: // others would fail, too
			return fmt.Errorf("%s: %w", t.Source, err)
		case err != nil:
			im.failed++
			im.note("%s: %v", path.Join(src.name, t.Source), err)
		}
	}
	return nil
}

// thing imports a thing, or the files that the thing of an earlier import lacks. It uploads the
// files first and finalizes them in the transaction that creates and publishes the thing, so an
// interrupted import leaves no incomplete thing.
func (im *importing) thing(ctx context.Context, src source, t layout.Thing, skipped []layout.Skipped) (err error) {
	if !slices.ContainsFunc(t.Files, func(f layout.File) bool { return f.Kind == layout.Model }) {
		for _, s := range skipped {
			if models.IsModelName(s.Source) {
				return fmt.Errorf("none of its models can be read: %s: was skipped: %s", s.Source, s.Reason)
			}
		}
	}
	if most := im.store.MaxFilesOf(models.OnThing); len(t.Files) > most {
		return fmt.Errorf("has %d files, and at most %d are allowed in a thing: set --thing-files; nothing of it was imported", len(t.Files), most)
	}
	named, err := im.named(ctx, t.Name)
	if err != nil {
		return err
	}
	up := &uploading{importing: im, files: src, done: map[string]*models.File{}}
	defer func() {
		if err != nil {
			up.discard(ctx)
		}
		im.skipped += len(up.notes)
	}()
	cover := slices.IndexFunc(t.Files, func(f layout.File) bool { return f.Cover })
	if cover > 0 { // the first image is the cover
		f := t.Files[cover]
		t.Files = slices.Insert(slices.Delete(t.Files, cover, cover+1), 0, f)
	}
	on, lacking, err := up.find(ctx, named, t.Files)
	if err != nil {
		return err
	}
	hasModel := false
	var uploads []models.FinalizeFile
	for _, file := range lacking {
		f, err := up.file(ctx, file)
		if err != nil {
			return err
		}
		if f != nil {
			hasModel = hasModel || f.Kind == models.Model
			uploads = append(uploads, models.FinalizeFile{ID: f.ID})
		}
	}
	switch {
	case on != 0 && len(uploads) == 0:
		im.there++
		im.notes(on, t.Notes, up.notes)
		return nil
	case on != 0:
		return im.update(ctx, on, t, up, uploads)
	}
	if len(up.unread) > 0 && !hasModel && slices.ContainsFunc(up.unread, models.IsModelName) {
		return fmt.Errorf("none of its models can be read: %s", strings.Join(up.notes, "; "))
	}
	known := t.License.ID()
	if id, _ := licenseID(im.License); known == license.Unknown && id != "" {
		known = id
	}
	publish := im.Publish && hasModel && known != license.Unknown
	created, err := im.store.CreateThing(ctx, im.caller, models.NewThing{
		Name: t.Name, LicenseID: string(known), Category: cmp.Or(t.Category, im.Category), Origin: importer.OriginOf(t), IsNSFW: t.Sensitive,
		Description: cmp.Or(strings.TrimSpace(t.Description), t.Name), Instructions: t.Instructions, Tags: t.Tags, Files: uploads,
		Publish: publish,
	})
	if err != nil {
		return err
	}
	im.added++
	im.files += len(uploads)
	im.note("thing %d, %s, with %s", created.ID, t.Name, count(len(uploads), "file"))
	if im.Publish && !hasModel {
		t.Notes = append(t.Notes, "is a draft, because it has no model")
	} else if im.Publish && !publish {
		t.Notes = append(t.Notes, "is a draft, because its license is unknown: set --license to publish it")
	}
	if len(named) > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("has the name of thing %d, which has other files", named[len(named)-1]))
	}
	im.notes(created.ID, t.Notes, up.notes)
	return im.collect(ctx, created.ID, t.Collection)
}

// update adds files to the thing of an earlier import.
func (im *importing) update(ctx context.Context, id int64, t layout.Thing, up *uploading, uploads []models.FinalizeFile) error {
	if _, err := im.store.Finalize(ctx, im.caller, uploads, models.Target{Type: models.OnThing, ID: id}); err != nil {
		return err
	}
	im.updated++
	im.files += len(uploads)
	im.note("thing %d, %s, now has %s more", id, t.Name, count(len(uploads), "file"))
	im.notes(id, t.Notes, up.notes)
	return im.collect(ctx, id, t.Collection)
}

func (im *importing) notes(id int64, lists ...[]string) {
	for _, note := range slices.Concat(lists...) {
		im.note("thing %d: %s", id, note)
	}
}

// collect adds a thing to the private collection of the owner that has the names of the folders
// above it. It creates the collection if there is none.
func (im *importing) collect(ctx context.Context, id int64, path []string) error {
	if len(path) == 0 {
		return nil
	}
	name := strings.Join(path, " / ")
	if im.collections[name] == 0 {
		id, err := im.store.Admin().CollectionNamed(ctx, im.caller.UserID, name)
		if models.CodeOf(err) == models.NotFound {
			var c *models.Collection
			if c, err = im.store.Collections.CreateCollection(ctx, im.caller, collections.NewCollection{Name: name, Visibility: models.PrivateCollection}); err == nil {
				id = c.ID
			}
		}
		if err != nil {
			return fmt.Errorf("collection %s: %w", name, err)
		}
		im.collections[name] = id
	}
	_, err := im.store.Collections.Collect(ctx, im.caller, im.collections[name], id)
	return err
}

// named returns the things of the owner with a name. Earlier imports kept the names of macOS in the
// form NFD.
func (im *importing) named(ctx context.Context, name string) (ids []int64, err error) {
	ids, err = im.store.Admin().ThingsNamed(ctx, im.caller.UserID, name)
	if decomposed := norm.NFD.String(name); err == nil && decomposed != name {
		var more []int64
		more, err = im.store.Admin().ThingsNamed(ctx, im.caller.UserID, decomposed)
		ids = append(ids, more...)
	}
	return ids, err
}
