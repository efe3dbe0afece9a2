package auth

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/alexedwards/argon2id"
)

// How passwords are hashed: OWASP's parameters for argon2id (Password Storage Cheat Sheet, 2025).
// Each hash carries its own, so they may change.
var argon2 = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// The shortest and the longest password that is taken, in bytes.
const (
	MinPassword = 10
	MaxPassword = 1_000
)

// hashing bounds how many passwords are hashed at once: each takes 19 MiB and a core.
var hashing = make(chan struct{}, runtime.NumCPU())

// HashPassword gives what is kept of a password: argon2id with its salt and parameters.
func HashPassword(ctx context.Context, password string) (hash string, err error) {
	err = inTurn(ctx, func() error {
		hash, err = argon2id.CreateHash(password, argon2)
		return err
	})
	return hash, err
}

// nobodys is the hash of a password that nobody knows.
var nobodys = sync.OnceValues(func() (string, error) { return argon2id.CreateHash(NewSecret(), argon2) })

// CheckPassword tells whether a password is the one of a hash. An empty hash, of a user who has no
// password or is not there, takes as long as any.
func CheckPassword(ctx context.Context, password, hash string) (good bool, err error) {
	known := hash != ""
	if !known {
		if hash, err = nobodys(); err != nil {
			return false, err
		}
	}
	err = inTurn(ctx, func() error {
		good, err = argon2id.ComparePasswordAndHash(password, hash)
		return err
	})
	return good && known, err
}

// inTurn runs fn when it is its turn, unless ctx ends before.
func inTurn(ctx context.Context, fn func() error) error {
	select {
	case hashing <- struct{}{}:
		defer func() { <-hashing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := fn(); err != nil {
		return fmt.Errorf("hash a password: %w", err)
	}
	return nil
}
