package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// Source is the bytes of an object, to be read at any place.
type Source struct {
	io.ReaderAt
	Size  int64
	close func() error
}

// Close frees what the source holds.
func (s *Source) Close() error { return s.close() }

// OpenSource opens the object at key for reading at any place, or returns an error matching [ErrNotExist]. A directory gives the file
// itself. What is on S3 is first copied into a temporary file, which Close removes.
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
	remove := func() error { return errors.Join(f.Close(), os.Remove(f.Name())) }
	if _, err := io.Copy(f, r); err != nil {
		return nil, errors.Join(fmt.Errorf("copy %s: %w", key, err), remove())
	}
	return &Source{f, o.Size, remove}, nil
}
