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

	"golang.org/x/term"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
)

type userCreateCmd struct {
	Name  string `arg:"" help:"1 to 64 letters, digits, '_', '.' or '-', beginning with a letter or digit, not digits alone."`
	Admin bool   `help:"Make the user an administrator."`
}

// Validate implements the interface of kong. It rejects a name before anything is created.
func (c *userCreateCmd) Validate() error { return models.CheckUsername(c.Name) }

func (c *userCreateCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withNewStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		u, err := store.Admin().CreateUser(ctx, c.Name, c.Admin)
		if err != nil {
			return err
		}
		stdout.printf("user %s has the id %d\n", u.Username, u.ID)
		return nil
	})
}

type userPasswordCmd struct {
	Name string `arg:"" help:"Username."`
}

func (c *userPasswordCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		password, err := readPassword(c.Name)
		if err != nil {
			return err
		}
		if err := store.Account.Admin().SetPassword(ctx, c.Name, password); err != nil {
			return err
		}
		stdout.printf("user %s has a new password\n", c.Name)
		return nil
	})
}

// readPassword reads a password from standard input. On a terminal it prompts for it and turns echo
// off.
func readPassword(username string) (string, error) {
	if stdin := int(os.Stdin.Fd()); term.IsTerminal(stdin) {
		return askPassword(stdin, fmt.Sprintf("New password of %s: ", username))
	}
	// The limit is one byte more than the longest password with its line ending, so that a longer
	// password is rejected, not truncated.
	text, err := io.ReadAll(io.LimitReader(os.Stdin, auth.MaxPassword+3))
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	password := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	if strings.ContainsAny(password, "\r\n") {
		return "", errors.New("the password must be one line")
	}
	return password, nil
}

// askPassword prompts for a password on the terminal stdin. It turns echo off before it prints the
// prompt, so that text that is typed or pasted at once is not shown. [term.ReadPassword] turns echo
// off only when it starts to read.
func askPassword(stdin int, prompt string) (string, error) {
	before, err := term.MakeRaw(stdin)
	if err != nil {
		return "", fmt.Errorf("hide the password: %w", err)
	}
	defer term.Restore(stdin, before)
	password, err := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{os.Stdin, os.Stderr}, "").ReadPassword(prompt)
	if errors.Is(err, io.EOF) { // also Ctrl-C and Ctrl-D
		return "", errors.New("no password was entered")
	}
	return password, err
}

type tokenCreateCmd struct {
	Name    string          `arg:"" help:"Username."`
	Scope   []string        `help:"Scope of the token: read, write or admin; repeat the flag for several. Default: ${default}." default:"read,write" placeholder:"SCOPE"`
	Expires config.Lifetime `help:"Lifetime: 90d, 12h. Default: the token does not expire." placeholder:"LIFETIME"`
	Label   string          `help:"What the token is for, to recognize it in lists." placeholder:"TEXT"`
}

// Validate checks the scopes before the database is opened.
func (c *tokenCreateCmd) Validate() error {
	_, err := auth.ParseScopes(c.Scope)
	return err
}

func (c *tokenCreateCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	scopes, err := auth.ParseScopes(c.Scope)
	if err != nil {
		return err
	}
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		token, err := store.Account.Admin().CreateToken(ctx, c.Name, c.Label, scopes, time.Duration(c.Expires))
		if err != nil {
			return err
		}
		stdout.println(token)
		return nil
	})
}

type tokenListCmd struct {
	Name string `arg:"" help:"Username."`
}

func (c *tokenListCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		tokens, err := store.Account.Admin().TokensOf(ctx, c.Name)
		if err != nil {
			return err
		}
		out := table("ID", "NAME", "SCOPES", "CREATED", "LAST USED", "EXPIRES")
		for _, t := range tokens {
			out.row(strconv.FormatInt(t.ID, 10), t.Name, t.Scopes, when(&t.CreatedAt), when(t.LastUsedAt), when(t.ExpiresAt))
		}
		return out.Flush()
	})
}

type tokenRevokeCmd struct {
	ID int64 `arg:"" help:"Token id, as printed by token list."`
}

func (c *tokenRevokeCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		t, err := store.Account.Admin().RevokeAnyToken(ctx, c.ID)
		if err != nil {
			return err
		}
		stdout.printf("revoked token %d\n", t.ID)
		return nil
	})
}

// columns writes a table to standard output.
type columns struct{ *tabwriter.Writer }

func table(heads ...string) columns {
	t := columns{tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)}
	t.row(heads...)
	return t
}

// row writes cells with control characters replaced by spaces. Write errors are returned by Flush.
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
