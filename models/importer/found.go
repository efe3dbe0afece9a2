package importer

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/layout"
	"github.com/meshyard/meshyard/internal/license"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/collections"
)

// FoundOptions are the settings of an import of things that were found in folders, in archives or
// at URLs.
type FoundOptions struct {
	Publish  bool       // publish the things that have a model and a known license
	License  license.ID // of things without a known one; "": unknown
	Category string     // of things without one
}

// FoundImport imports things that were found in folders, in archives or at URLs.
type FoundImport struct {
	FoundOptions
	store       *Store
	caller      auth.Caller
	collections map[string]int64 // IDs by name
}

// Found returns an import of things that were found. They will belong to the caller.
func (s *Store) Found(caller auth.Caller, o FoundOptions) *FoundImport {
	return &FoundImport{o, s, caller, map[string]int64{}}
}

// FoundThing is a thing that was found.
type FoundThing struct {
	layout.Thing
	Content fs.FS            // has the files
	Skipped []layout.Skipped // what is no part of the things at the same place
	// Earlier is the ID of the thing of an earlier import from the same place. 0: it is found by its
	// name and its files.
	Earlier int64
}

// Imported says what became of a thing.
type Imported struct {
	ThingID int64
	Files   int      // new ones
	Existed bool     // an earlier import has created the thing
	Notes   []string // about the thing and its files
	Skipped int      // files that cannot be read, or that were rejected
}

// Thing imports a thing, or the files that the thing of an earlier import lacks. It uploads the
// files first and finalizes them in the transaction that creates and publishes the thing, so an
// interrupted import leaves no incomplete thing.
func (im *FoundImport) Thing(ctx context.Context, t FoundThing) (done Imported, err error) {
	if !slices.ContainsFunc(t.Files, func(f layout.File) bool { return f.Kind == layout.Model }) {
		for _, s := range t.Skipped {
			if models.IsModelName(s.Source) {
				return done, fmt.Errorf("none of its models can be read: %s: was skipped: %s", s.Source, s.Reason)
			}
		}
	}
	if most := im.store.core.MaxFilesOf(models.OnThing); len(t.Files) > most {
		return done, fmt.Errorf(
			"has %d files, and at most %d are allowed in a thing: set --thing-files; nothing of it was imported",
			len(t.Files), most)
	}
	named := []int64{t.Earlier}
	if t.Earlier == 0 {
		if named, err = im.named(ctx, t.Name); err != nil {
			return done, err
		}
	}
	up := &uploading{FoundImport: im, files: t.Content, done: map[string]*models.File{}}
	defer func() {
		if err != nil {
			up.discard(ctx)
		}
		done.Skipped = len(up.notes)
	}()
	cover := slices.IndexFunc(t.Files, func(f layout.File) bool { return f.Cover })
	if cover > 0 { // the first image is the cover
		f := t.Files[cover]
		t.Files = slices.Insert(slices.Delete(t.Files, cover, cover+1), 0, f)
	}
	on, lacking, err := up.find(ctx, named, t.Files)
	if err != nil {
		return done, err
	}
	if t.Earlier != 0 {
		on = t.Earlier
	}
	hasModel := false
	var uploads []models.FinalizeFile
	for _, file := range lacking {
		f, err := up.file(ctx, file)
		if err != nil {
			return done, err
		}
		if f != nil {
			hasModel = hasModel || f.Kind == models.Model
			uploads = append(uploads, models.FinalizeFile{ID: f.ID})
		}
	}
	if on != 0 {
		if len(uploads) > 0 {
			if _, err := im.store.core.Finalize(ctx, im.caller, uploads, models.Target{Type: models.OnThing,
				ID: on}); err != nil {
				return done, err
			}
			err = im.collect(ctx, on, t.Collection)
		}
		return Imported{ThingID: on, Files: len(uploads), Existed: true, Notes: slices.Concat(t.Notes, up.notes)}, err
	}
	if len(up.unread) > 0 && !hasModel && slices.ContainsFunc(up.unread, models.IsModelName) {
		return done, fmt.Errorf("none of its models can be read: %s", strings.Join(up.notes, "; "))
	}
	known := t.License.ID()
	if known == license.Unknown && im.License != "" {
		known = im.License
	}
	publish := im.Publish && hasModel && known != license.Unknown
	created, err := im.store.core.CreateThing(ctx, im.caller, models.NewThing{
		Name: t.Name, LicenseID: string(known), Category: cmp.Or(t.Category, im.Category), Origin: OriginOf(t.Thing),
		IsNSFW:      t.Sensitive,
		Description: cmp.Or(strings.TrimSpace(t.Description), t.Name), Instructions: t.Instructions, Tags: t.Tags,
		Files:   uploads,
		Publish: publish,
	})
	if err != nil {
		return done, err
	}
	if im.Publish && !hasModel {
		t.Notes = append(t.Notes, "is a draft, because it has no model")
	} else if im.Publish && !publish {
		t.Notes = append(t.Notes, "is a draft, because its license is unknown: set --license to publish it")
	}
	if len(named) > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("has the name of thing %d, which has other files", named[len(named)-1]))
	}
	done = Imported{ThingID: created.ID, Files: len(uploads), Notes: slices.Concat(t.Notes, up.notes)}
	return done, im.collect(ctx, created.ID, t.Collection)
}

// collect adds a thing to the private collection of the owner that has the names of the folders
// above it. It creates the collection if there is none.
func (im *FoundImport) collect(ctx context.Context, id int64, path []string) error {
	if len(path) == 0 {
		return nil
	}
	core, name := im.store.core, strings.Join(path, " / ")
	if im.collections[name] == 0 {
		id, err := core.Admin().CollectionNamed(ctx, im.caller.UserID, name)
		if models.CodeOf(err) == models.NotFound {
			var c *models.Collection
			if c, err = im.store.collections.CreateCollection(ctx, im.caller, collections.NewCollection{Name: name,
				Visibility: models.PrivateCollection}); err == nil {
				id = c.ID
			}
		}
		if err != nil {
			return fmt.Errorf("collection %s: %w", name, err)
		}
		im.collections[name] = id
	}
	_, err := im.store.collections.Collect(ctx, im.caller, im.collections[name], id)
	return err
}

// named returns the things of the owner with a name. Earlier imports kept the names of macOS in the
// form NFD.
func (im *FoundImport) named(ctx context.Context, name string) (ids []int64, err error) {
	ids, err = im.store.core.Admin().ThingsNamed(ctx, im.caller.UserID, name)
	if decomposed := norm.NFD.String(name); err == nil && decomposed != name {
		var more []int64
		more, err = im.store.core.Admin().ThingsNamed(ctx, im.caller.UserID, decomposed)
		ids = append(ids, more...)
	}
	return ids, err
}
