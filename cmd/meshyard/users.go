package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models"
)

type userCreateCmd struct {
	Name  string `arg:"" help:"1 to 64 letters, digits, '_', '.' or '-'."`
	Admin bool   `help:"Make the user an administrator."`
}

func (c *userCreateCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) (err error) {
	a, err := server.Open(ctx, s, logger)
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

type userPasswordCmd struct {
	Name string `arg:"" help:"The user."`
}

func (c *userPasswordCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	// One byte more than a password and its line end may have, so that a longer one is refused and not cut.
	text, err := io.ReadAll(io.LimitReader(os.Stdin, auth.MaxPassword+3))
	if err != nil {
		return fmt.Errorf("read the password: %w", err)
	}
	password := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	if strings.ContainsAny(password, "\r\n") {
		return errors.New("the password must be one line")
	}
	return with(ctx, s, logger, func(store *models.Store) error {
		if err := store.SetPassword(ctx, c.Name, password); err != nil {
			return err
		}
		fmt.Printf("user %s has a new password\n", c.Name)
		return nil
	})
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
	a, err := server.Open(ctx, s, logger)
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

type tokenListCmd struct {
	Name string `arg:"" help:"The user."`
}

func (c *tokenListCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return with(ctx, s, logger, func(store *models.Store) error {
		tokens, err := store.TokensOf(ctx, c.Name)
		if err != nil {
			return err
		}
		when := func(at *time.Time) string {
			if at == nil {
				return "never"
			}
			return at.Format(time.RFC3339)
		}
		out := table("ID", "NAME", "SCOPES", "MADE", "LAST USED", "ENDS")
		for _, t := range tokens {
			out.row(strconv.FormatInt(t.ID, 10), t.Name, t.Scopes, when(&t.CreatedAt), when(t.LastUsedAt), when(t.ExpiresAt))
		}
		return out.Flush()
	})
}

type tokenRevokeCmd struct {
	ID int64 `arg:"" help:"The id that token list tells."`
}

func (c *tokenRevokeCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return with(ctx, s, logger, func(store *models.Store) error {
		t, err := store.RevokeAnyToken(ctx, c.ID)
		if err != nil {
			return err
		}
		fmt.Printf("token %d is revoked\n", t.ID)
		return nil
	})
}

// with runs fn on the catalogue of the settings.
func with(ctx context.Context, s config.Settings, logger *slog.Logger, fn func(*models.Store) error) (err error) {
	a, err := server.Open(ctx, s, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return fn(a.Store)
}

// columns is a table on standard output.
type columns struct{ *tabwriter.Writer }

func table(heads ...string) columns {
	t := columns{tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)}
	t.row(heads...)
	return t
}

// row writes cells without what could break the table; Flush tells of errors.
func (t columns) row(cells ...string) {
	for i, c := range cells {
		cells[i] = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, c)
	}
	_, _ = fmt.Fprintln(t, strings.Join(cells, "\t"))
}
