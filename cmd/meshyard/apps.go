package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models"
)

type appCreateCmd struct {
	Name     string   `arg:"" help:"What users see when it asks."`
	Redirect []string `help:"Where it is answered, several times for several: https://…, http://127.0.0.1/… (any port), or a scheme that is a domain read backwards." sep:"none" placeholder:"URL"`
	Public   bool     `help:"It can keep no secret, as programs on users' machines cannot: it has none, and must use PKCE."`
	Implicit bool     `help:"It may have tokens in an address: for old programs that know nothing better."`
}

func (c *appCreateCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return with(ctx, s, logger, func(store *models.Store) error {
		secret, a, err := store.RegisterApplication(ctx, models.NewApplication{Name: c.Name, RedirectURIs: c.Redirect, IsPublic: c.Public, AllowsImplicit: c.Implicit})
		if err != nil {
			return err
		}
		fmt.Println("client_id", a.ClientID)
		if secret != "" {
			fmt.Println("client_secret", secret)
		}
		return nil
	})
}

type appListCmd struct{}

func (*appListCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return with(ctx, s, logger, func(store *models.Store) error {
		all, err := store.AllApplications(ctx)
		if err != nil {
			return err
		}
		out := table("CLIENT ID", "KIND", "NAME", "ADDRESSES")
		for _, a := range all {
			kind := "confidential"
			if a.IsPublic() {
				kind = "public"
			}
			if a.AllowsImplicit {
				kind += ", implicit"
			}
			out.row(a.ClientID, kind, a.Name, strings.Join(a.RedirectURIs(), " "))
		}
		return out.Flush()
	})
}

type appDeleteCmd struct {
	ClientID string `arg:"" name:"client-id" help:"The client id that app list tells."`
}

func (c *appDeleteCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return with(ctx, s, logger, func(store *models.Store) error {
		if err := store.ForgetApplication(ctx, c.ClientID); err != nil {
			return err
		}
		fmt.Println("application", c.ClientID, "is forgotten")
		return nil
	})
}
