package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/meshyard/meshyard/cmd/meshyard/app"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/config"
)

type userCreateCmd struct {
	Name  string `arg:"" help:"1 to 64 letters, digits, '_', '.' or '-'."`
	Admin bool   `help:"Make the user an administrator."`
}

func (c *userCreateCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) (err error) {
	a, err := app.Open(ctx, s, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	u, err := a.Store.CreateUser(ctx, c.Name, c.Admin)
	if err != nil {
		return err
	}
	fmt.Printf("user %s has the id %d\n", u.Username, u.ID)
	return nil
}

type tokenCreateCmd struct {
	Name    string          `arg:"" help:"The user."`
	Scope   []string        `help:"What the token allows: read, write, admin; several times for several. Default: ${default}." default:"read,write" placeholder:"SCOPE"`
	Expires config.Lifetime `help:"How long it lives: 90d, 12h. Default: for ever." placeholder:"LIFETIME"`
	Label   string          `help:"What it is for, to know it by later." placeholder:"TEXT"`
}

func (c *tokenCreateCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) (err error) {
	scopes, err := auth.ParseScopes(c.Scope)
	if err != nil {
		return err
	}
	a, err := app.Open(ctx, s, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	token, err := a.Store.CreateToken(ctx, c.Name, c.Label, scopes, time.Duration(c.Expires))
	if err != nil {
		return err
	}
	fmt.Println(token)
	return nil
}
