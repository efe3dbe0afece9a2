package main

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/models/catalogue"
)

type invitationCreateCmd struct {
	Email   string          `help:"E-mail address of the person. With --smtp-url, a running server sends the link there too." placeholder:"ADDRESS"`
	Expires config.Lifetime `help:"Lifetime: 30d, 12h. Default: ${default}." default:"7d" placeholder:"LIFETIME"`
}

func (c *invitationCreateCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		until := time.Now().Add(time.Duration(c.Expires))
		secret, _, err := store.Account.Admin().
			CreateInvitation(ctx, account.NewInvitation{Email: &c.Email, ExpiresAt: &until})
		if err != nil {
			return err
		}
		stdout.println(urls.Builder{Base: s.BaseURL}.Invitation(secret))
		return nil
	})
}

type invitationListCmd struct{}

func (*invitationListCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		found, err := store.Account.Admin().Invitations(ctx)
		if err != nil {
			return err
		}
		out := table("ID", "E-MAIL", "CREATED", "EXPIRES")
		for _, inv := range found {
			out.row(strconv.FormatInt(inv.ID, 10), inv.Email, when(&inv.CreatedAt), when(&inv.ExpiresAt))
		}
		return out.Flush()
	})
}

type invitationRevokeCmd struct {
	ID int64 `arg:"" help:"Invitation id, as printed by invitation list."`
}

func (c *invitationRevokeCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		if err := store.Account.Admin().RevokeInvitation(ctx, c.ID); err != nil {
			return err
		}
		stdout.printf("revoked invitation %d\n", c.ID)
		return nil
	})
}
