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
)

func (d *directory) remove(_ context.Context, key string) error {
	if err := d.root.Remove(key); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (d *directory) stat(_ context.Context, key string) (Object, error) {
	info, err := d.root.Stat(key)
	if err != nil {
		return Object{}, missing(err)
	}
	return describe(key, info)
}

func (d *directory) open(_ context.Context, key string) (io.ReadSeekCloser, Object, error) {
	f, o, err := d.openFile(key)
	if err != nil {
		return nil, Object{}, err // avoids a non-nil interface with a nil *os.File
	}
	return f, o, nil
}

func (d *directory) openFile(key string) (*os.File, Object, error) {
	f, err := d.root.Open(key)
	if err != nil {
		return nil, Object{}, missing(err)
	}
	var o Object
	info, err := f.Stat()
	if err == nil {
		o, err = describe(key, info)
	}
	if err != nil {
		f.Close()
		return nil, Object{}, err
	}
	return f, o, nil
}

// presign reports that a directory has no URLs.
func (d *directory) presign(context.Context, string, ResponseHeaders) (string, bool, error) {
	return "", false, nil
}

// walk reads names in directory order, in batches.
func (d *directory) walk(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		for folder := range d.folders {
			if !strings.HasPrefix(folder, prefix) && !strings.HasPrefix(prefix, folder) {
				continue
			}
			if !d.walkFolder(ctx, folder, prefix, yield) {
				return
			}
		}
	}
}

func (d *directory) walkFolder(ctx context.Context, folder, prefix string, yield func(Object, error) bool) bool {
	f, err := d.root.Open(strings.TrimSuffix(folder, "/"))
	if folder == DerivedPrefix && errors.Is(err, fs.ErrNotExist) {
		return true // see create
	}
	if err != nil {
		return yield(Object{}, err)
	}
	defer f.Close()
	for {
		if err := ctx.Err(); err != nil {
			return yield(Object{}, err)
		}
		batch, err := f.ReadDir(256)
		if err == io.EOF {
			return true
		}
		if err != nil {
			return yield(Object{}, err)
		}
		for _, entry := range batch {
			key := folder + entry.Name()
			if !strings.HasPrefix(key, prefix) || !entry.Type().IsRegular() {
				continue
			}
			info, err := entry.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // removed since the batch was read
			}
			if err != nil {
				return yield(Object{}, err)
			}
			o, _ := describe(key, info)
			if !yield(o, nil) {
				return false
			}
		}
	}
}

func describe(key string, info fs.FileInfo) (Object, error) {
	if !info.Mode().IsRegular() {
		return Object{}, fmt.Errorf("%w: it is not a regular file", ErrNotExist)
	}
	return Object{Key: key, Size: info.Size(), ModTime: info.ModTime(), Partial: strings.HasSuffix(key, partialSuffix)},
		nil
}

// missing makes the error for a missing file match ErrNotExist.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrNotExist, err)
	}
	return err
}
