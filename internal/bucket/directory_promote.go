package bucket

import (
	"context"
	"errors"
	"fmt"
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

func (d *directory) link(pending, content string, size int64) error {
	temp := content + "." + randomName() + partialSuffix
	if err := missing(d.root.Link(pending, temp)); err != nil {
		return err
	}
	// Needed after success too: renaming one name of a file over another
	// name of the same file does nothing, and keeps both (rename(2)).
	defer d.root.Remove(temp)

	o, err := d.stat(context.Background(), temp)
	if err != nil {
		return err
	}
	if o.Size != size {
		return fmt.Errorf("pending object has %d bytes, not %d", o.Size, size)
	}
	// The age of content counts from its promotion, as on S3: a sweep of old
	// content without a row must not meet an upload that waited for long.
	now := time.Now()
	if err := d.root.Chtimes(temp, now, now); err != nil {
		return err
	}
	return d.root.Rename(temp, content)
}
