package main

import (
	"context"
	"log/slog"
	"strings"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/models/catalogue"
)

type appCreateCmd struct {
	Name     string   `arg:"" help:"Name that users see when the application asks for access."`
	Redirect []string `help:"Redirect URI; repeat the flag for several. https://…, http://127.0.0.1/… (any port), or a private-use scheme such as org.example.app:/callback." sep:"none" placeholder:"URL"`
	Public   bool     `help:"Public client: it runs on users' machines, has no secret, and must use PKCE."`
	Implicit bool     `help:"Allow the implicit grant, which puts tokens in a URL. Only for old programs that support nothing else."`
}

func (c *appCreateCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		secret, a, err := store.Account.Admin().
			RegisterApplication(ctx, account.NewApplication{Name: c.Name, RedirectURIs: c.Redirect, IsPublic: c.Public,
				AllowsImplicit: c.Implicit})
		if err != nil {
			return err
		}
		stdout.println("client_id", a.ClientID)
		if secret != "" {
			stdout.println("client_secret", secret)
		}
		return nil
	})
}

type appListCmd struct{}

func (*appListCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		all, err := store.Account.Admin().AllApplications(ctx)
		if err != nil {
			return err
		}
		out := table("CLIENT ID", "KIND", "NAME", "REDIRECT URIS")
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
	ClientID string `arg:"" name:"client-id" help:"Client ID, as printed by app list."`
}

func (c *appDeleteCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		if err := store.Account.Admin().DeleteApplication(ctx, c.ClientID); err != nil {
			return err
		}
		stdout.println("deleted application", c.ClientID)
		return nil
	})
}
