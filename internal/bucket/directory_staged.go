package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/filesystem/durable"
)

// stage creates the file staged/<name>.
func (d *directory) stage(_ context.Context, s Staged) (string, error) {
	f, err := d.createFile(StagedPrefix + s.Name)
	if err != nil {
		return "", err
	}
	return "", errors.Join(f.Close(), durable.Sync(d.folders[StagedPrefix]))
}

// append writes behind the bytes that are committed. Others are those of a process that was killed
// before it committed them.
func (d *directory) append(ctx context.Context, a *appending, r io.Reader) error {
	f, err := d.root.OpenFile(StagedPrefix+a.staged.Name, os.O_WRONLY, 0)
	if err != nil {
		return missing(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < a.staged.Size {
		return fmt.Errorf("it has %d bytes, not %d", info.Size(), a.staged.Size)
	}
	if err := f.Truncate(a.staged.Size); err != nil {
		return err
	}
	if _, err := f.Seek(a.staged.Size, io.SeekStart); err != nil {
		return err
	}
	store := func() error {
		if err := f.Sync(); err != nil {
			return err
		}
		return a.store()
	}
	begun := time.Now()
	c := chunks.Get().(*chunk)
	defer chunks.Put(c)
	for {
		n, readErr := r.Read(c.buf[:])
		if _, err := f.Write(c.buf[:n]); err != nil {
			return err
		}
		a.add(c.buf[:n])
		if readErr != nil {
			return a.end(readErr, store)
		}
		if err := ctx.Err(); err != nil {
			return a.end(err, store)
		}
		if since := a.staged.Size - a.committed.Size; a.verify == nil &&
			(since >= PartSize || since > 0 && time.Since(begun) > commitEvery) {
			if err := store(); err != nil {
				return err
			}
			begun = time.Now()
		}
	}
}

// end commits what was read before err, which is io.EOF at the end.
func (a *appending) end(err error, store func() error) error {
	if err == io.EOF {
		err = nil
	}
	if a.verify != nil && err == nil {
		err = a.verify()
	}
	if a.verify != nil && err != nil {
		return err
	}
	return errors.Join(err, store())
}

// finish renames staged/<name> to pending/<name>.
func (d *directory) finish(_ context.Context, s Staged) error {
	from := StagedPrefix + s.Name
	err := d.cut(from, s.Size)
	if err == nil {
		err = d.root.Rename(from, s.Key())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // it may be renamed already
		return err
	}
	return errors.Join(durable.Sync(d.folders[PendingPrefix]), durable.Sync(d.folders[StagedPrefix]))
}

// cut removes what follows the first size bytes of a file, which nobody has committed.
func (d *directory) cut(name string, size int64) error {
	info, err := d.root.Stat(name)
	if err != nil || info.Size() <= size {
		return err
	}
	f, err := d.root.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Sync(), f.Close())
}

func (d *directory) unstage(ctx context.Context, s Staged) error {
	return d.remove(ctx, StagedPrefix+s.Name)
}

func (d *directory) stagedUploads(ctx context.Context) iter.Seq2[StagedUpload, error] {
	return func(yield func(StagedUpload, error) bool) {
		for o, err := range d.walk(ctx, StagedPrefix) {
			if !yield(StagedUpload{Staged{Name: strings.TrimPrefix(o.Key, StagedPrefix)}, o.ModTime}, err) {
				return
			}
		}
	}
}
