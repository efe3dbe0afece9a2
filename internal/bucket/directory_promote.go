package bucket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/meshyard/meshyard/internal/filesystem/durable"
)

// promote links the pending file to a temporary name and renames that to the content. So the
// content appears, or is replaced, atomically, and concurrent promotions are safe: the last one
// wins, with equal bytes.
func (d *directory) promote(ctx context.Context, pending, content string, size int64, replace bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	had, err := d.holds(content, size)
	if err != nil {
		return err
	}
	if !had || replace {
		err := d.link(pending, content, size)
		if errors.Is(err, ErrNotExist) && !replace {
			// A concurrent promotion may have finished first, and its caller may have removed the
			// pending file.
			if had, _ := d.holds(content, size); had {
				err = nil
			}
		}
		if err != nil {
			return err
		}
	}
	// Another process may have renamed existing content and not synced yet. A sync without changes
	// is cheap.
	return durable.Sync(d.folders[ContentPrefix])
}

func (d *directory) holds(content string, size int64) (bool, error) {
	o, err := d.stat(context.Background(), content)
	if errors.Is(err, ErrNotExist) {
		return false, nil
	}
	return err == nil && o.Size == size, err
}

// link tries again if a garbage collection without a grace period removed the temporary name.
func (d *directory) link(pending, content string, size int64) (err error) {
	for range 5 {
		if err = d.linkOnce(pending, content, size); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return err
}

func (d *directory) linkOnce(pending, content string, size int64) error {
	// The age of content counts from its promotion, as in S3. Otherwise a garbage collection of old
	// content without a row could delete an upload that was pending for long, or its temporary
	// name.
	now := time.Now()
	if err := missing(d.root.Chtimes(pending, now, now)); err != nil {
		return err
	}
	temp := content + "." + randomName() + partialSuffix
	if err := missing(d.root.Link(pending, temp)); err != nil {
		return err
	}
	// Also needed after success: renaming one hard link to another of the same file does nothing
	// and keeps both (rename(2)).
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

// duplicate links the content to the name of a pending file.
func (d *directory) duplicate(ctx context.Context, content, pending string, size int64) error {
	o, err := d.stat(ctx, content)
	if err != nil {
		return err
	}
	if o.Size != size {
		return fmt.Errorf("the content has %d bytes, not %d", o.Size, size)
	}
	if err := missing(d.root.Link(content, pending)); err != nil {
		return err
	}
	return durable.Sync(d.folders[PendingPrefix])
}
