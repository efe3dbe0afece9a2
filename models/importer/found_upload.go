package importer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/meshyard/meshyard/internal/image/imagemeta"
	"github.com/meshyard/meshyard/internal/layout"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/uploads"
)

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

// uploading uploads the files of a thing.
type uploading struct {
	*FoundImport
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
			_ = up.store.uploads.DeletePendingUpload(context.WithoutCancel(ctx), up.caller, f.ID)
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
func (up *uploading) file(ctx context.Context, file layout.File) (*models.File, error) {
	name := file.Source
	if f, done := up.done[name]; done {
		return f, nil
	}
	f, err := up.upload(ctx, file)
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

func (up *uploading) upload(ctx context.Context, file layout.File) (*models.File, error) {
	f, err := up.files.Open(file.Source)
	if err != nil {
		return nil, sourceError{err}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, sourceError{err}
	}
	read := &sourceFile{File: f}
	uploaded, err := up.store.uploads.Upload(ctx, up.caller, uploads.NewUpload{Name: path.Base(file.Path),
		Folder: path.Dir(file.Path), Bytes: read, AtLeast: info.Size()})
	if err != nil && read.err != nil && ctx.Err() == nil {
		return nil, read.err
	}
	return uploaded, err
}

// find returns which of the things with the given IDs is the one that an earlier import made of
// these files, and the files that it lacks. That is the thing with most of their contents, or one
// without files if the server accepts none of them. on is 0 if there is none.
func (up *uploading) find(ctx context.Context, ids []int64,
	files []layout.File) (on int64, lacking []layout.File, err error) {
	if len(ids) == 0 {
		return 0, files, nil
	}
	found, err := up.store.core.FilesOn(ctx, models.AllFileFields, models.OnThing, ids)
	if err != nil {
		return 0, nil, err
	}
	sums := make([]string, len(files))
	for i, file := range files {
		sum, err := up.sum(file.Source)
		if unread, ok := errors.AsType[sourceError](err); ok {
			up.skip(file.Source, unread)
			continue
		}
		if err != nil {
			return 0, nil, fmt.Errorf("%s: %w", file.Source, err)
		}
		sums[i] = sum
	}
	most, stored := 0, map[string]bool{}
	for _, id := range ids {
		has, shared := map[string]bool{}, 0
		for _, f := range found[id] {
			has[f.SHA256] = true
		}
		for _, sum := range sums {
			if has[sum] {
				shared++
			}
		}
		if shared > most {
			on, most, stored = id, shared, has
		}
	}
	for i, file := range files {
		if sums[i] != "" && !stored[sums[i]] {
			lacking = append(lacking, file)
		}
	}
	if on != 0 {
		return on, lacking, nil
	}
	for _, file := range lacking {
		if f, err := up.file(ctx, file); f != nil || err != nil {
			return 0, lacking, err
		}
	}
	for _, id := range ids {
		if len(found[id]) == 0 {
			return id, nil, nil
		}
	}
	return 0, lacking, nil
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
