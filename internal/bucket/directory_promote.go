package bucket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// promote links the pending file under a temporary name and renames that over
// the content. So content appears, or is replaced, whole, and promotions at
// once are harmless: the last one wins, with the same bytes.
func (d *directory) promote(ctx context.Context, pending, content string, size int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	had, err := d.holds(content, size)
	if err != nil {
		return err
	}
	if !had {
		err := d.link(pending, content, size)
		if errors.Is(err, ErrNotExist) {
			// A promotion beside this one may have been first, and its
			// caller so quick that the pending file is gone already.
			if had, _ := d.holds(content, size); had {
				err = nil
			}
		}
		if err != nil {
			return err
		}
	}
	// Content that was there may have been renamed a moment ago by another
	// process that has yet to sync. A sync with nothing to do is cheap.
	return syncFolder(d.folders[ContentPrefix])
}

func (d *directory) holds(content string, size int64) (bool, error) {
	o, err := d.stat(context.Background(), content)
	if errors.Is(err, ErrNotExist) {
		return false, nil
	}
	return err == nil && o.Size == size, err
}

// link tries again where a sweep, run with no grace at all, took the temporary name away.
func (d *directory) link(pending, content string, size int64) (err error) {
	for range 5 {
		if err = d.linkOnce(pending, content, size); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return err
}

func (d *directory) linkOnce(pending, content string, size int64) error {
	// The age of content counts from its promotion, as on S3: a sweep of old
	// content without a row must not meet an upload that waited for long, nor
	// take its temporary name for one of a writer that was killed.
	now := time.Now()
	if err := missing(d.root.Chtimes(pending, now, now)); err != nil {
		return err
	}
	temp := content + "." + randomName() + partialSuffix
	if err := missing(d.root.Link(pending, temp)); err != nil {
		return err
	}
	// Needed after success too: renaming one name of a file over another
	// name of the same file does nothing, and keeps both (rename(2)).
	defer d.root.Remove(temp)

	info, err := d.root.Stat(temp)
	if err != nil {
		return err
	}
	if info.Size() != size {
		return fmt.Errorf("pending object has %d bytes, not %d", info.Size(), size)
	}
	return d.root.Rename(temp, content)
}
