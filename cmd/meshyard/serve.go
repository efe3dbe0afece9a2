package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/internal/config"
)

type serveCmd struct {
	Drain time.Duration `help:"How long requests in flight may take to end after the first SIGTERM or interrupt; a second one ends them at once. Default: ${default}." default:"10m"`
}

func (c *serveCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) (err error) {
	a, err := server.Open(ctx, s, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	listener, err := a.Listen() // before anything is said: another server may have the address
	if err != nil {
		return err
	}
	token, err := a.FirstToken(ctx)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	if token != "" {
		fmt.Printf("The catalogue is empty: the user admin was made. This token is shown once:\n\n    %s\n\nGraphiQL: %s/graphiql\n", token, s.BaseURL)
	}
	return a.Serve(ctx, listener, c.Drain)
}

type migrateCmd struct{}

func (*migrateCmd) Run(ctx context.Context, s config.Settings) error {
	applied, err := server.Migrate(ctx, s)
	if err != nil {
		return err
	}
	for _, name := range applied {
		fmt.Println("applied", name)
	}
	fmt.Println("the database is up to date")
	return nil
}
