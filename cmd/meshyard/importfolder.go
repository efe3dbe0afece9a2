package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/dataset/folder"
	"github.com/meshyard/meshyard/internal/image/imagemeta"
	"github.com/meshyard/meshyard/internal/outage"
	"github.com/meshyard/meshyard/models"
)

// importOptions are the flags of imports from folders and archives.
type importOptions struct {
	Owner    string         `required:"" help:"Username of the owner of the things." placeholder:"NAME"`
	Draft    bool           `help:"Leave the things drafts. Default: they are published."`
	License  models.License `help:"License of things without a known one. The default is the most restrictive one. Default: ${default}." default:"cc-nc-nd" placeholder:"CODE"`
	Category string         `help:"Category of things without one: its name, slug or id. Default: ${default}." default:"Other" placeholder:"CATEGORY"`
}

type importFolderCmd struct {
	importOptions
	Dir string `arg:"" type:"existingdir" help:"Folder that is a thing or contains things, also in folders below it."`
}

func (c *importFolderCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return err
	}
	files, err := folder.OpenDir(dir)
	if err != nil {
		return err
	}
	defer files.Close()
	return c.run(ctx, s, logger, []source{{files.Tree, folder.CleanName(filepath.Base(dir))}})
}

type importZipCmd struct {
	importOptions
	Files         []string    `arg:"" type:"existingfile" help:"ZIP archives of one or more things."`
	UnpackedLimit config.Size `help:"Maximum size of all files of an archive together, such as 5GiB. Default: 1 GiB, or 50 times the size of the archive if that is more." placeholder:"SIZE"`
}

func (c *importZipCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	var sources []source
	for _, file := range c.Files {
		archive, err := folder.OpenZIP(file, int64(c.UnpackedLimit))
		if _, ok := errors.AsType[*folder.TooLargeError](err); ok {
			return fmt.Errorf("%s: %w: set --unpacked-limit to import it", file, err)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		defer archive.Close()
		base := filepath.Base(file)
		sources = append(sources, source{archive.Tree, folder.CleanName(strings.TrimSuffix(base, filepath.Ext(base)))})
	}
	return c.run(ctx, s, logger, sources)
}

// source is a folder or an archive that contains things.
type source struct {
	files *folder.Tree
	name  string
}

// sourceError is an error of a file to import. It hides its cause, so that a file that cannot be
// read is not considered an outage.
type sourceError struct{ cause error }

func (e sourceError) Error() string { return e.cause.Error() }

// sourceFile is a file to import.
type sourceFile struct {
	fs.File
	err error // of reading
}

func (f *sourceFile) Read(p []byte) (n int, err error) {
	n, err = f.File.Read(p)
	if err != nil && err != io.EOF {
		err = sourceError{err}
		f.err = err
	}
	return n, err
}

// run imports the things of all sources. If a thing cannot be imported, it continues with the next
// one and returns an error at the end. It stops at an outage.
func (o importOptions) run(ctx context.Context, s config.Settings, logger *slog.Logger, sources []source) error {
	// Quotas apply only to what users upload themselves.
	s.LiftQuotas()
	return withStore(ctx, s, logger, func(store *models.Store) error {
		if !slices.Contains(models.Licenses, o.License) {
			return fmt.Errorf("--license %q: must be one of %q", o.License, models.Licenses)
		}
		owner, err := store.Admin().User(ctx, o.Owner)
		if err != nil {
			return err
		}
		im := &importing{importOptions: o, store: store, caller: auth.Caller{UserID: owner.ID, Role: owner.Role(), Scopes: auth.Scopes{auth.Read, auth.Write}}}
		things := make([][]folder.Thing, len(sources))
		for i, source := range sources {
			var notes []string
			if things[i], notes, err = folder.Things(source.files, source.name, models.IsModelName); err != nil {
				return fmt.Errorf("%s: %w", source.name, err)
			}
			for _, note := range slices.Concat(source.files.Notes, notes) {
				fmt.Fprintln(os.Stderr, escaped(source.name+": "+note))
			}
			im.total += len(things[i])
		}
		if im.total == 0 {
			return errors.New("found no thing: a thing is a folder with at least one model")
		}
		started := time.Now()
		for i, source := range sources {
			for _, t := range things[i] {
				if err := im.thing(ctx, source.files, t); ctx.Err() != nil {
					return fmt.Errorf("%w (run it again to continue)", ctx.Err())
				} else if outage.Of(err) != nil { // others would fail, too
					return fmt.Errorf("%s: %w (run it again to continue)", path.Join(source.name, t.Path), err)
				} else if err != nil {
					im.failed++
					im.note("%s: %v", path.Join(source.name, t.Path), err)
				}
			}
		}
		stdout.printf("imported %s with %s in %s; %d had been imported before\n", count(im.added, "thing"), count(im.files, "file"), time.Since(started).Round(time.Second), im.there)
		if im.failed > 0 {
			return fmt.Errorf("%d of %d things were not imported", im.failed, im.total)
		}
		return nil
	})
}

// importing is an import in progress.
type importing struct {
	importOptions
	store  *models.Store
	caller auth.Caller

	total, added, there, failed, files int
}

func (im *importing) note(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%d of %d: %s\n", im.added+im.there+im.failed, im.total, escaped(fmt.Sprintf(format, args...)))
}

// thing imports a thing, unless the owner already has it. It uploads the files first and finalizes
// them in the transaction that creates and publishes the thing, so an interrupted import leaves no
// incomplete thing.
func (im *importing) thing(ctx context.Context, files fs.FS, t folder.Thing) (err error) {
	if len(t.Unread) > 0 && !slices.ContainsFunc(t.Files, models.IsModelName) {
		return fmt.Errorf("none of its models can be read: %s", strings.Join(t.Notes, "; "))
	}
	named, err := im.named(ctx, t.Name)
	if err != nil {
		return err
	}
	up := &uploading{importing: im, files: files, done: map[string]*models.File{}}
	defer func() {
		if err != nil {
			up.discard(ctx)
		}
	}()
	there, err := up.isOn(ctx, named, t.Files)
	if err != nil {
		return err
	}
	if there {
		im.there++
		return nil
	}
	hasModel := false
	var uploads []models.FinalizeFile
	for _, name := range t.Files {
		f, err := up.file(ctx, name)
		if err != nil {
			return err
		}
		if f != nil {
			hasModel = hasModel || f.Kind == models.Model
			uploads = append(uploads, models.FinalizeFile{ID: f.ID})
		}
	}
	if len(up.unread) > 0 && !hasModel && slices.ContainsFunc(up.unread, models.IsModelName) {
		return fmt.Errorf("none of its models can be read: %s", strings.Join(up.notes, "; "))
	}
	t.Notes = append(t.Notes, up.notes...)
	license := cmp.Or(models.License(t.License), im.License)
	created, err := im.store.CreateThing(ctx, im.caller, models.NewThing{
		Name: t.Name, License: license, Category: cmp.Or(t.Category, im.Category),
		Description: cmp.Or(strings.TrimSpace(t.Description), t.Name), Instructions: t.Instructions, Tags: t.Tags, Files: uploads,
		Publish: !im.Draft && hasModel,
	})
	if err != nil {
		return err
	}
	im.added++
	im.files += len(uploads)
	if !im.Draft && !hasModel {
		t.Notes = append(t.Notes, "is a draft, because it has no model")
	}
	if len(named) > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("has the name of thing %d, which has other files", named[len(named)-1]))
	}
	im.note("thing %d, %s, with %s", created.ID, t.Name, count(len(uploads), "file"))
	for _, note := range t.Notes {
		im.note("thing %d: %s", created.ID, note)
	}
	return nil
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

// uploading uploads the files of a thing.
type uploading struct {
	*importing
	files  fs.FS
	done   map[string]*models.File // by path; nil: the file cannot be read, or the server rejected it
	unread []string                // the paths of files that cannot be read
	notes  []string                // about files that cannot be read, or were rejected
}

// discard deletes the uploads that are not part of a thing.
func (up *uploading) discard(ctx context.Context) {
	for _, f := range up.done {
		if f != nil {
			// If that fails, the upload expires.
			_ = up.store.DeletePendingUpload(context.WithoutCancel(ctx), up.caller, f.ID)
		}
	}
}

// skip notes that a file cannot be read.
func (up *uploading) skip(name string, err error) {
	up.done[name] = nil
	up.unread = append(up.unread, name)
	up.notes = append(up.notes, fmt.Sprintf("%s: was skipped: it cannot be read: %v", name, err))
}

// file uploads a file, once. It returns nil if the file cannot be read, or if the server rejects
// it.
func (up *uploading) file(ctx context.Context, name string) (*models.File, error) {
	if f, done := up.done[name]; done {
		return f, nil
	}
	f, err := up.upload(ctx, name)
	if unread, ok := errors.AsType[sourceError](err); ok {
		up.skip(name, unread)
		return nil, nil
	}
	if models.CodeOf(err) == models.BadInput || models.CodeOf(err) == models.TooLarge {
		up.notes = append(up.notes, fmt.Sprintf("%s: was skipped: %v", name, err))
		f, err = nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	up.done[name] = f
	return f, nil
}

func (up *uploading) upload(ctx context.Context, name string) (*models.File, error) {
	f, err := up.files.Open(name)
	if err != nil {
		return nil, sourceError{err}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, sourceError{err}
	}
	read := &sourceFile{File: f}
	uploaded, err := up.store.Upload(ctx, up.caller, models.NewUpload{Name: path.Base(name), Bytes: read, AtLeast: info.Size()})
	if err != nil && read.err != nil && ctx.Err() == nil {
		return nil, read.err
	}
	return uploaded, err
}

// isOn reports whether one of the things with the given IDs has the contents of all files that the
// server accepts. If it accepts none, that is a thing without files.
func (up *uploading) isOn(ctx context.Context, ids []int64, names []string) (bool, error) {
	if len(ids) == 0 {
		return false, nil
	}
	found, err := up.store.FilesOn(ctx, models.AllFileFields, models.OnThing, ids)
	if err != nil {
		return false, err
	}
	stored := make(map[int64]map[string]bool, len(ids)) // the SHA-256 of the files of each thing
	known := map[string]bool{}
	for _, id := range ids {
		stored[id] = map[string]bool{}
		for _, f := range found[id] {
			stored[id][f.SHA256], known[f.SHA256] = true, true
		}
	}
	var accepted []string
	for _, name := range names {
		if _, done := up.done[name]; done {
			continue
		}
		sum, err := up.sum(name)
		if unread, ok := errors.AsType[sourceError](err); ok {
			up.skip(name, unread)
			continue
		}
		if err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
		if known[sum] {
			accepted = append(accepted, sum)
			continue
		}
		if f, err := up.file(ctx, name); f != nil || err != nil {
			return false, err
		}
	}
	return slices.ContainsFunc(ids, func(id int64) bool {
		lacks := func(sum string) bool { return !stored[id][sum] }
		return (len(accepted) > 0 || len(stored[id]) == 0) && !slices.ContainsFunc(accepted, lacks)
	}), nil
}

// sum returns the SHA-256 of a file in hex, as it is stored: images without their metadata.
func (up *uploading) sum(name string) (string, error) {
	f, err := up.files.Open(name)
	if err != nil {
		return "", sourceError{err}
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, imagemeta.Strip(&sourceFile{File: f})); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
