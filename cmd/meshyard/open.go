package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/database/dblock"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/maintenance"
)

// withStore runs fn on the catalogue of the settings. It returns an error if the catalogue does not
// exist, so that a command with a wrong folder does not create a database there.
func withStore(ctx context.Context, s config.Settings, logger *slog.Logger, fn func(*catalogue.Catalogue) error) error {
	return withServer(ctx, s, logger, func(a *server.Server) error { return fn(a.Store) })
}

// withServer is like withStore, for functions that need more than the store.
func withServer(ctx context.Context, s config.Settings, logger *slog.Logger,
	fn func(*server.Server) error) (err error) {
	a, err := server.OpenExisting(ctx, s, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return fn(a)
}

// withNewStore is like withStore, but creates the database and the bucket folder if they are
// missing, and runs pending migrations.
func withNewStore(ctx context.Context, s config.Settings, logger *slog.Logger,
	fn func(*catalogue.Catalogue) error) (err error) {
	a, err := server.Open(ctx, s, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return fn(a.Store)
}

// withHeldStore is like withNewStore, for a command that holds the lock of the database.
func withHeldStore(ctx context.Context, s config.Settings, logger *slog.Logger, lock *dblock.Lock,
	fn func(*catalogue.Catalogue) error) (err error) {
	a, err := server.OpenHeld(ctx, s, logger, lock)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return fn(a.Store)
}

// recordRun records a complete run of a command for the metrics of the server. If that fails, it
// logs a warning, because the run is complete nevertheless.
func recordRun(ctx context.Context, store *catalogue.Catalogue, logger *slog.Logger, run maintenance.LastRun) {
	if err := store.Maintenance.RecordRun(ctx, run); err != nil {
		logger.Warn("the run is not in the metrics of the server", "command", run.Command, "error", err)
	}
}
