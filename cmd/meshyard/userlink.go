package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models/catalogue"
)

type userLinkCmd struct {
	Name    string `arg:"" help:"Username."`
	Subject string `arg:"" help:"Claim sub of the account at the OpenID provider."`
	Issuer  string `help:"Claim iss of the provider. Default: that of --oidc-issuer." placeholder:"URL"`
	Move    bool   `help:"Link the account even if it belongs to another user, whose sessions then end."`
}

func (c *userLinkCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	issuer := cmp.Or(c.Issuer, s.OIDCIssuer)
	if issuer == "" {
		return errors.New("--issuer: is required if MESHYARD_OIDC_ISSUER is not set")
	}
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		if err := store.Account.Admin().LinkIdentity(ctx, c.Name, issuer, c.Subject, c.Move); err != nil {
			return err
		}
		stdout.printf("user %s is linked to %s at %s\n", c.Name, c.Subject, issuer)
		return nil
	})
}
