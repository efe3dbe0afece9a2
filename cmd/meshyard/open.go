package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models"
)

// withStore runs fn on the catalogue of the settings, which must exist: a command that only looks,
// or changes what is there, creates no database in a wrong folder.
func withStore(ctx context.Context, s config.Settings, logger *slog.Logger, fn func(*models.Store) error) (err error) {
	a, err := server.OpenExisting(ctx, s, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return fn(a.Store)
}

// withNewStore is withStore for commands that may create the database and the bucket folder.
func withNewStore(ctx context.Context, s config.Settings, logger *slog.Logger, fn func(*models.Store) error) (err error) {
	a, err := server.Open(ctx, s, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return fn(a.Store)
}
