package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/meshyard/meshyard/cmd/meshyard/account"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/legacyclient"
	"github.com/meshyard/meshyard/models"
)

type importAccountCmd struct {
	From         string  `required:"" help:"Base URL of the REST API of the other service." placeholder:"URL"`
	Token        string  `required:"" help:"Access token of the user there." env:"MESHYARD_IMPORT_TOKEN" placeholder:"TOKEN"`
	User         string  `help:"Username here. A missing user is created. Default: the name there." placeholder:"NAME"`
	Rate         float64 `help:"Maximum number of requests in a second. The limits of the service are kept in any case. Default: ${default}." default:"3" placeholder:"N"`
	AllowPrivate bool    `help:"Follow URLs of a public service to addresses of private networks."`
}

func (c *importAccountCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	// Quotas apply only to what users upload themselves.
	s.LiftQuotas()
	client, err := legacyclient.New(ctx, c.From, legacyclient.Options{
		Token: c.Token, Rate: c.Rate, AllowPrivate: c.AllowPrivate, UserAgent: "meshyard/" + s.Version,
		Waiting: func(why string, wait time.Duration) {
			fmt.Fprintf(os.Stderr, "waiting %s: %s\n", wait.Round(time.Second), escaped(why))
		},
	})
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	return withStore(ctx, s, logger, func(store *models.Store) error {
		r, err := account.Import(ctx, store, client, c.User, func(line string) { fmt.Fprintln(os.Stderr, escaped(line)) })
		stdout.printf("imported %s, %s, %s, %s, %s and %s; %d had been imported before\n", count(r.Things, "thing"), count(r.Files, "file"), count(r.Images, "image"),
			count(r.Makes, "make"), count(r.Collections, "collection"), count(r.Likes, "like"), r.There)
		for _, problem := range r.Problems {
			stdout.println(escaped(problem))
		}
		if err != nil {
			return fmt.Errorf("%w (run it again to continue)", err)
		}
		if len(r.Problems) > 0 {
			return fmt.Errorf("%s could not be imported, or not completely", count(len(r.Problems), "object"))
		}
		return nil
	})
}
