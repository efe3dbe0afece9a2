package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// markKey is the key of the mark. Versions of the program that do not know its prefix leave it
// alone.
const markKey = markPrefix + "collector"

// maxMark is the maximum length of a mark.
const maxMark = 100

// Mark returns the mark of the bucket, and when it was set. It returns "" if there is none.
func (b *Bucket) Mark(ctx context.Context) (mark string, at time.Time, err error) {
	r, o, err := b.Reader(ctx, markKey)
	if errors.Is(err, ErrNotExist) {
		return "", time.Time{}, nil
	}
	if err != nil {
		return "", time.Time{}, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxMark))
	if err != nil {
		return "", time.Time{}, fmt.Errorf("read %s: %w", markKey, err)
	}
	return string(text), o.ModTime, nil
}

// SetMark replaces the mark of the bucket: a text by which the database that collects garbage
// recognizes the bucket.
func (b *Bucket) SetMark(ctx context.Context, mark string) error {
	err := b.write(ctx, markKey, "text/plain", func(w io.Writer) error {
		_, err := io.WriteString(w, mark)
		return err
	})
	if err != nil {
		return fmt.Errorf("put %s: %w", markKey, err)
	}
	return nil
}
