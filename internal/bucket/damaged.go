package bucket

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// isDamaged reports whether existing content of the right size has other bytes, or cannot be read.
// It reads all of it.
func (b *Bucket) isDamaged(ctx context.Context, content, sum string, size int64) (bool, error) {
	o, err := b.store.stat(ctx, content)
	if errors.Is(err, ErrNotExist) || err == nil && o.Size != size {
		return false, nil // it is stored, or replaced, in any case
	}
	if err != nil {
		return false, err
	}
	err = b.verify(ctx, content, sum)
	if errors.Is(err, ErrDamaged) || IsUnreadable(err) {
		return true, nil
	}
	if errors.Is(err, ErrNotExist) { // removed meanwhile
		return false, nil
	}
	return false, err
}

// verify returns an error that matches ErrDamaged if the bytes at key do not have the SHA-256.
func (b *Bucket) verify(ctx context.Context, key, sum string) error {
	r, _, err := b.store.open(ctx, key)
	if err != nil {
		return err
	}
	defer r.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, r); err != nil {
		return err
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != sum {
		return fmt.Errorf("%w: it is %s", ErrDamaged, got)
	}
	return nil
}
