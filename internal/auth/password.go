package auth

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/alexedwards/argon2id"
)

// Argon2 holds the parameters of argon2id that OWASP recommends (Password Storage Cheat Sheet,
// 2025). Each hash contains its own parameters, so they may change. Tests that sign in many times
// reduce Memory, which is in KiB, before the first password is hashed.
var Argon2 = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// The minimum and the maximum length of a password, in bytes.
const (
	MinPassword = 10
	MaxPassword = 1_000
)

// hashing limits how many passwords are hashed concurrently: each hash takes 19 MiB and a core.
var hashing = make(chan struct{}, runtime.NumCPU())

// HashPassword returns the argon2id hash of a password as it is stored, with its salt and
// parameters. If too many hashes are being computed, it waits until ctx is done.
func HashPassword(ctx context.Context, password string) (hash string, err error) {
	err = inTurn(ctx, func() error {
		hash, err = argon2id.CreateHash(password, Argon2)
		return err
	})
	return hash, err
}

// unknownHash returns the hash of a random password.
var unknownHash = sync.OnceValues(func() (string, error) { return argon2id.CreateHash(NewSecret(), Argon2) })

// CheckPassword reports whether a password matches a hash. For an empty hash, of a user who has no
// password or does not exist, it returns false after the same time as for any other hash.
func CheckPassword(ctx context.Context, password, hash string) (good bool, err error) {
	known := hash != ""
	if !known {
		if hash, err = unknownHash(); err != nil {
			return false, err
		}
	}
	err = inTurn(ctx, func() error {
		good, err = argon2id.ComparePasswordAndHash(password, hash)
		return err
	})
	return good && known, err
}

// inTurn runs fn once fewer than the maximum number of hashes are being computed. It returns the
// error of ctx if ctx is done first.
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
