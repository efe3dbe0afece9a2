package bucket

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"time"

	"github.com/gabriel-vasile/mimetype"
)

// Staged is an upload that arrives in several requests. Its bytes are below [StagedPrefix] or, in
// S3, in a multipart upload, until [Bucket.Finish] makes them a pending object. The caller stores
// it in a row, and passes what the row has.
type Staged struct {
	Name      string // unique
	Multipart string // the ID of the multipart upload in S3; empty for a directory
	Size      int64  // the number of bytes that are durable
	// Sums is the state of the hashes of these bytes. If it is empty although there are bytes, Finish
	// reads all of them again.
	Sums []byte
}

// Key returns the key of the pending object that Finish creates.
func (s Staged) Key() string { return PendingPrefix + s.Name }

// PartSize is the size of the parts of an upload: when so many bytes have arrived, they are made
// durable before the request has ended. So a server that is killed loses less than that.
const PartSize = 8 << 20

// commitEvery is the time after which bytes in a directory are made durable even if they are fewer.
const commitEvery = 2 * time.Second

// Stage begins an upload that arrives in several requests.
func (b *Bucket) Stage(ctx context.Context) (Staged, error) {
	s := Staged{Name: randomName()}
	var err error
	if s.Multipart, err = b.store.stage(ctx, s); err != nil {
		return Staged{}, fmt.Errorf("stage %s: %w", s.Name, err)
	}
	return s, nil
}

// Append adds the bytes of r to s. Whenever some of them are durable, it calls commit with what to
// store in the row. If verify is not nil, that happens only once, after r has ended and verify has
// returned nil. Append returns the upload as it was last committed, also with an error. If r fails,
// the bytes that came before are kept, unless there is verify.
//
// The caller must prevent that two processes append to the same upload at once. If commit returns
// an error, Append ends with it.
func (b *Bucket) Append(ctx context.Context, s Staged, r io.Reader, verify func() error,
	commit func(Staged) error) (Staged, error) {
	a := &appending{committed: s, staged: s, verify: verify, commit: commit}
	a.sha, a.md5 = restoreSums(s)
	err := b.store.append(ctx, a, r)
	if err != nil {
		err = fmt.Errorf("append to %s: %w", s.Name, err)
	}
	return a.committed, err
}

// Finish makes the bytes of s a pending object, and returns it like [Bucket.Put]. It is idempotent.
func (b *Bucket) Finish(ctx context.Context, s Staged) (Upload, error) {
	u := Upload{Key: s.Key(), Size: s.Size}
	if err := b.store.finish(ctx, s); err != nil {
		return Upload{}, fmt.Errorf("finish %s: %w", s.Name, err)
	}
	r, o, err := b.store.open(ctx, u.Key)
	if err != nil {
		return Upload{}, fmt.Errorf("finish %s: %w", s.Name, err)
	}
	defer r.Close()
	if o.Size != s.Size {
		return Upload{}, fmt.Errorf("finish %s: the object has %d bytes, not %d", s.Name, o.Size, s.Size)
	}
	head := make([]byte, headSize)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return Upload{}, fmt.Errorf("finish %s: %w", s.Name, err)
	}
	u.ContentType = mimetype.Detect(head[:n]).String()
	sha, md := restoreSums(s)
	if sha == nil {
		sha, md = sha256.New(), md5.New()
		both := io.MultiWriter(sha, md)
		_, _ = both.Write(head[:n]) // hashes return no errors
		if _, err := io.Copy(both, r); err != nil {
			return Upload{}, fmt.Errorf("finish %s: %w", s.Name, err)
		}
	}
	u.SHA256, u.MD5 = hex.EncodeToString(sha.Sum(nil)), hex.EncodeToString(md.Sum(nil))
	return u, nil
}

// Unstage removes what is stored of an upload that is not finished. It returns nil if there is
// nothing.
func (b *Bucket) Unstage(ctx context.Context, s Staged) error {
	if err := b.store.unstage(ctx, s); err != nil {
		return fmt.Errorf("unstage %s: %w", s.Name, err)
	}
	return nil
}

// StagedUpload is an upload of which something is stored.
type StagedUpload struct {
	Staged            // without Size and Sums
	ModTime time.Time // of the last change or, of a multipart upload, of the start
}

// StagedUploads iterates over the uploads of which something is stored and that are not finished.
// In S3 they include the multipart uploads of [Bucket.Put]. An upload may appear more than once. An
// error ends the iteration.
func (b *Bucket) StagedUploads(ctx context.Context) iter.Seq2[StagedUpload, error] {
	return func(yield func(StagedUpload, error) bool) {
		for u, err := range b.store.stagedUploads(ctx) {
			if err != nil {
				yield(StagedUpload{}, fmt.Errorf("list staged uploads: %w", err))
				return
			}
			if !yield(u, nil) {
				return
			}
		}
	}
}

// appending is a call of Append.
type appending struct {
	committed, staged Staged
	sha, md5          hash.Hash // nil: the hashes of the bytes before are unknown
	verify            func() error
	commit            func(Staged) error
}

// add hashes bytes.
func (a *appending) add(p []byte) {
	a.staged.Size += int64(len(p))
	if a.sha != nil {
		_, _ = a.sha.Write(p) // hashes return no errors
		_, _ = a.md5.Write(p)
	}
}

// store commits the bytes that were added, which are durable.
func (a *appending) store() error {
	if a.staged.Size == a.committed.Size {
		return nil
	}
	a.staged.Sums = sumsState(a.sha, a.md5)
	if err := a.commit(a.staged); err != nil {
		return err
	}
	a.committed = a.staged
	return nil
}

// sumsState returns the state of both hashes, or nil if they are unknown.
func sumsState(sha, md5 hash.Hash) []byte {
	if sha == nil {
		return nil
	}
	first, err := sha.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return nil
	}
	second, err := md5.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return nil
	}
	return append(first, second...)
}

// restoreSums returns the hashes in the state of s, or nil if it has none or they are those of
// another version of Go.
func restoreSums(s Staged) (sha, md hash.Hash) {
	sha, md = sha256.New(), md5.New()
	if s.Size == 0 {
		return sha, md
	}
	length := len(sumsState(sha, md)) - len(s.Sums)
	first, err := sha.(encoding.BinaryMarshaler).MarshalBinary()
	if length != 0 || err != nil {
		return nil, nil
	}
	err = errors.Join(sha.(encoding.BinaryUnmarshaler).UnmarshalBinary(s.Sums[:len(first)]),
		md.(encoding.BinaryUnmarshaler).UnmarshalBinary(s.Sums[len(first):]))
	if err != nil {
		return nil, nil
	}
	return sha, md
}
