package server

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/database/dblock"
)

// Lock acquires the lock of the database of the settings, and returns the marker of an operation
// that was interrupted, or nil. by is the command that acquires it.
func Lock(ctx context.Context, s config.Settings, mode dblock.Mode,
	by string) (*dblock.Lock, *dblock.Unfinished, error) {
	if path, ok := database.File(s.DatabaseURL); ok && path != "" {
		if err := makeFolder(filepath.Dir(path)); err != nil {
			return nil, nil, err
		}
	}
	lock, err := dblock.Acquire(ctx, s.DatabaseURL, mode, by)
	if errors.Is(err, dblock.ErrInUse) {
		return nil, nil, err
	}
	var unfinished *dblock.Unfinished
	if err == nil {
		unfinished, err = lock.Unfinished(ctx)
	}
	if err != nil {
		return nil, nil, errors.Join(startError("--database-url", s.DatabaseURL, err), lock.Close())
	}
	return lock, unfinished, nil
}

// Use acquires the lock together with other servers and commands. It returns an error if a restore
// or an import has the database for itself, or was interrupted.
func Use(ctx context.Context, s config.Settings, by string) (*dblock.Lock, error) {
	lock, unfinished, err := Lock(ctx, s, dblock.Shared, by)
	if err != nil {
		return nil, err
	}
	if unfinished != nil {
		return nil, errors.Join(unfinished.Error(), lock.Close())
	}
	return lock, nil
}

// checkLockEvery is how often a server checks that it still holds the lock.
const checkLockEvery = 5 * time.Second

// keepLock checks the lock until ctx ends, and calls lost if another process has the database for
// itself. During an outage of the database it does nothing: then no process can acquire the lock.
func (a *Server) keepLock(ctx context.Context, lost func(error)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(checkLockEvery):
		}
		if err := a.lock.Check(ctx); errors.Is(err, dblock.ErrInUse) {
			lost(err)
			return
		}
	}
}
