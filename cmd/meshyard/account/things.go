package account

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/legacyclient"
	"github.com/meshyard/meshyard/internal/license"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/importer"
	"github.com/meshyard/meshyard/models/uploads"
)

// errOther means that the bytes could not be downloaded: there is no URL, or they differ from the
// size or MD5 that the service reports.
var errOther = errors.New("the content differs from what the service reports")

func (im *importing) things(ctx context.Context) error {
	return im.each(ctx, "thing", im.path+"/things", im.thing)
}

// thing imports a thing, unless it was imported before. It uploads the files first and finalizes
// them in the transaction that creates the thing, so an interrupted import leaves no incomplete
// thing.
func (im *importing) thing(ctx context.Context, id int64) error {
	here, err := im.known(ctx, "things", id)
	if err != nil {
		return err
	}
	if here != 0 {
		im.report.There++
		return nil
	}
	t, path := new(legacyclient.Thing), fmt.Sprintf("/things/%d", id)
	if err := im.client.JSON(ctx, path, t); err != nil {
		return err
	}
	var files []legacyclient.File
	if err := im.client.JSON(ctx, path+"/files", &files); err != nil {
		return err
	}
	if here, err = im.left(ctx, t, files); err != nil {
		return err
	}
	dates := datesOf(t)
	if here == 0 {
		if here, err = im.create(ctx, t, files, dates.Files); err != nil {
			return err
		}
	}
	if t.IsPublished {
		// An interrupted run may have published it already.
		if _, err := im.store.PublishThing(ctx, im.caller, here, models.Published); isObjectError(err) {
			im.problem("thing %d is a draft: %v", id, err)
		} else if err != nil {
			return err
		}
	}
	im.report.Things++
	return im.source.Record(ctx, "things", id, here, dates)
}

// left returns a thing that an interrupted run created but did not record, or 0. It has the same
// name and all of the files. The sizes of images differ if they were stored without their metadata.
func (im *importing) left(ctx context.Context, t *legacyclient.Thing, files []legacyclient.File) (int64, error) {
	ids, err := im.source.Unrecorded(ctx, "things", im.caller.UserID, t.Name)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	found, err := im.store.FilesOn(ctx, models.AllFileFields, models.OnThing, ids)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		if !slices.ContainsFunc(files, func(f legacyclient.File) bool {
			return !slices.ContainsFunc(found[id], func(here *models.File) bool {
				return here.Name == f.Name && (here.Size == f.Size || here.Kind == models.Image)
			})
		}) {
			return id, nil
		}
	}
	return 0, nil
}

// create creates a thing and adds the times of its files to dates.
func (im *importing) create(ctx context.Context, t *legacyclient.Thing, files []legacyclient.File,
	dates map[int64]time.Time) (int64, error) {
	var uploads []models.FinalizeFile
	for _, f := range files {
		id, err := im.file(ctx, &f, bool(t.IsPublished))
		if isObjectError(err) {
			im.problem("thing %d, file %d, %s: %v", t.ID, f.ID, f.Name, err)
			continue
		}
		if err != nil {
			return 0, err
		}
		im.report.Files++
		if !f.Date.IsZero() {
			dates[id] = f.Date.Time
		}
		uploads = append(uploads, models.FinalizeFile{ID: id, Rank: f.Rank})
	}
	images, err := im.images(ctx, t, files)
	if err != nil {
		return 0, err
	}
	for i, id := range images {
		rank := int32(i)
		uploads = append(uploads, models.FinalizeFile{ID: id, Rank: &rank})
	}
	n := models.NewThing{
		Name: t.Name, LicenseID: string(im.license(t)), Origin: im.origin(t), Description: t.Description,
		Instructions: t.Instructions,
		IsWIP:        bool(t.IsWIP), IsRemix: bool(t.IsDerivative), IsNSFW: bool(t.IsNSFW), IsAI: bool(t.IsAI),
		Files: uploads,
	}
	if parts := bytes.TrimSpace(t.DetailsParts); len(parts) > 2 && parts[0] == '[' {
		n.DetailsParts = string(parts)
	}
	for _, tag := range t.Tags {
		n.Tags = append(n.Tags, tag.Name)
	}
	for _, a := range t.Ancestors {
		here, err := im.thingHere(ctx, a.ID)
		if err != nil {
			return 0, err
		}
		if here == 0 {
			im.problem("thing %d: is a remix of thing %d, which does not exist on this server", t.ID, a.ID)
			continue
		}
		n.AncestorIDs = append(n.AncestorIDs, here)
	}
	if n.Category, err = im.categoryOf(ctx, t); err != nil {
		return 0, err
	}
	created, err := im.store.CreateThing(ctx, im.caller, n)
	if err != nil {
		return 0, err
	}
	return created.ID, nil
}

// license returns the license of a thing, or Unknown if the text may mean one that permits less.
func (im *importing) license(t *legacyclient.Thing) license.ID {
	if id, ok := license.Coded(t.License); ok {
		return id
	}
	id := license.Label(t.License)
	if id == license.Unknown && t.License != license.Unknown.Name() {
		im.problem("thing %d: its license %q is unknown on this server: it was imported as unknown", t.ID, t.License)
	}
	return id
}

// origin returns the page of a thing in the other service, and its user.
func (im *importing) origin(t *legacyclient.Thing) *models.NewOrigin {
	site := ""
	if u, err := url.Parse(t.PublicURL); err == nil {
		site = strings.TrimPrefix(u.Hostname(), "www.")
	}
	return importer.Origin(im.name, im.page, t.PublicURL, site)
}

// categoryOf returns the category of a thing: the last one that exists on this server, or Other.
func (im *importing) categoryOf(ctx context.Context, t *legacyclient.Thing) (string, error) {
	var all []struct{ Name, Slug string }
	if err := im.client.JSON(ctx, fmt.Sprintf("/things/%d/categories", t.ID), &all); err != nil {
		return "", err
	}
	name := ""
	for _, c := range all {
		name = cmp.Or(c.Slug, c.Name)
	}
	for _, c := range slices.Backward(all) {
		for _, which := range []string{c.Slug, c.Name} {
			if im.category[which] {
				return which, nil
			}
		}
	}
	im.problem("thing %d: its category %q does not exist on this server: it was imported into Other", t.ID, name)
	return "Other", nil
}

// file uploads a file. It prefers URLs that do not count a download.
func (im *importing) file(ctx context.Context, f *legacyclient.File, public bool) (int64, error) {
	direct := ""
	if f.DirectURL != nil {
		direct = *f.DirectURL
	}
	urls := []string{f.PublicURL, direct, f.DownloadURL}
	if !public {
		urls = []string{direct, f.DownloadURL}
	}
	return im.upload(ctx, f.Name, f.Size, f.MD5(), urls...)
}

// upload uploads the bytes from the first URL that returns them. size and md5 are those that the
// service reports, or -1 and "" if it reports none.
func (im *importing) upload(ctx context.Context, name string, size int64, md5 string,
	urls ...string) (id int64, err error) {
	err = fmt.Errorf("%w: there is no URL", errOther)
	for _, address := range urls {
		if address == "" {
			continue
		}
		err = im.client.Bytes(ctx, address, func(r io.Reader, length int64) error {
			got := newReceived(r)
			f, err := im.store.Uploads.Upload(ctx, im.caller, uploads.NewUpload{Name: name, Bytes: got, AtLeast: max(length, 0)})
			if err != nil {
				if models.CodeOf(err) != models.Internal {
					err = legacyclient.Final(err)
				}
				return err
			}
			if size >= 0 && got.size != size || md5 != "" && got.md5() != md5 {
				err := im.store.Uploads.DeletePendingUpload(ctx, im.caller, f.ID)
				return errors.Join(fmt.Errorf("%w: got %d bytes with the MD5 %s, want %d and %s", errOther, got.size, got.md5(),
					size, md5), err)
			}
			id = f.ID
			return nil
		})
		if err == nil || !isObjectError(err) || errors.Is(err, errOther) {
			return id, err
		}
	}
	return 0, err
}
