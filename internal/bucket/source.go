package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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
// to a temporary file that has no name, so that nothing remains of it if the process is killed. On
// Windows it has one, and Close removes it.
func (b *Bucket) OpenSource(ctx context.Context, key string) (*Source, error) {
	r, o, err := b.Reader(ctx, key)
	if err != nil {
		return nil, err
	}
	if f, ok := r.(*os.File); ok {
		return &Source{f, o.Size, f.Close}, nil
	}
	defer r.Close()
	f, err := os.CreateTemp("", "meshyard-")
	if err != nil {
		return nil, fmt.Errorf("copy %s: %w", key, err)
	}
	remove := f.Close
	if os.Remove(f.Name()) != nil { // Windows keeps the name of an open file
		remove = func() error { return errors.Join(f.Close(), os.Remove(f.Name())) }
	}
	if _, err := io.Copy(f, r); err != nil {
		return nil, errors.Join(fmt.Errorf("copy %s: %w", key, err), remove())
	}
	return &Source{f, o.Size, remove}, nil
}
