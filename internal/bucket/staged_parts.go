package bucket

import (
	"context"
	"fmt"
	"time"
)

// Part is a part of a staged upload that clients send to S3 directly.
type Part struct {
	Number int // from 1 on
	Size   int64
	URL    string // presigned, for a PUT with exactly Size bytes
}

// maxPartExpiry is how long a presigned URL of S3 works at most.
const maxPartExpiry = 7 * 24 * time.Hour

// PresignParts returns URLs under which anyone can PUT the parts of an upload of size bytes until
// it expires. They have the sizes of those of Append, so both ways can be mixed. ok is false for a
// directory, if objects are streamed, and for uploads with more than 1,000 parts.
func (b *Bucket) PresignParts(ctx context.Context, s Staged, size int64,
	expires time.Duration) (parts []Part, ok bool, err error) {
	if s.Multipart == "" || size > PartSize*partsOfSize || expires <= 0 {
		return nil, false, nil
	}
	for from := int64(0); from < size; from += PartSize {
		parts = append(parts, Part{Number: len(parts) + 1, Size: min(PartSize, size-from)})
	}
	ok, err = b.store.presignParts(ctx, s, parts, min(expires, maxPartExpiry))
	if err != nil {
		return nil, false, fmt.Errorf("presign the parts of %s: %w", s.Name, err)
	}
	return parts, ok, nil
}

// StagedSize returns how many bytes the parts of an upload have that clients have sent to S3, from
// the first one to the last one without a gap. It returns 0 for a directory. If all have arrived,
// call Finish with that size and without Sums.
func (b *Bucket) StagedSize(ctx context.Context, s Staged) (int64, error) {
	n, err := b.store.stagedSize(ctx, s)
	if err != nil {
		return 0, fmt.Errorf("parts of %s: %w", s.Name, err)
	}
	return n, nil
}

func (d *directory) presignParts(context.Context, Staged, []Part, time.Duration) (bool, error) {
	return false, nil
}

func (d *directory) stagedSize(context.Context, Staged) (int64, error) { return 0, nil }
