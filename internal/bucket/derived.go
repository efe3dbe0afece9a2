package bucket

import (
	"context"
	"fmt"
	"io"
)

// PutDerived stores what write writes as one durable object. The object appears atomically. key
// comes from [DerivedKey]. Derived objects are deterministic, so an existing one is replaced.
func (b *Bucket) PutDerived(ctx context.Context, key, contentType string, write func(io.Writer) error) error {
	err := checkDerived(key)
	if err == nil {
		err = b.write(ctx, key, contentType, write)
	}
	if err != nil {
		return fmt.Errorf("put %s: %w", key, err)
	}
	return nil
}

// write stores what fn writes as one durable object, which appears or is replaced atomically.
func (b *Bucket) write(ctx context.Context, key, contentType string, fn func(io.Writer) error) error {
	u, err := b.store.create(ctx, key, contentType)
	if err != nil {
		return err
	}
	committed := false
	defer func() {
		if !committed {
			u.abort()
		}
	}()
	if err := fn(u); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := u.commit(); err != nil {
		return err
	}
	committed = true
	return nil
}
