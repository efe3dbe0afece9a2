package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/meshyard/meshyard/internal/filesystem/tempfile"
)

// Source is the content of an object in a file of the local disk.
type Source struct {
	*os.File
	Size  int64
	close func() error
}

// Close releases the source.
func (s *Source) Close() error { return s.close() }

// OpenSource opens the object at key as a file, or returns an error that matches [ErrNotExist]. For
// a directory this is the stored file, which must not be written. An object in S3 is first copied
// to a temporary file.
func (b *Bucket) OpenSource(ctx context.Context, key string) (*Source, error) {
	r, o, err := b.Reader(ctx, key)
	if err != nil {
		return nil, err
	}
	if f, ok := r.(*os.File); ok {
		return &Source{f, o.Size, f.Close}, nil
	}
	defer r.Close()
	f, err := tempfile.New()
	if err != nil {
		return nil, fmt.Errorf("copy %s: %w", key, err)
	}
	if _, err := io.Copy(f, r); err != nil {
		return nil, errors.Join(fmt.Errorf("copy %s: %w", key, err), f.Close())
	}
	return &Source{f.File, o.Size, f.Close}, nil
}
