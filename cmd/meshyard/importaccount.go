package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/meshyard/meshyard/cmd/meshyard/account"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/legacyclient"
	"github.com/meshyard/meshyard/internal/publicaddr"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
)

type importAccountCmd struct {
	From         string  `required:"" help:"Base URL of the REST API of the other service." placeholder:"URL"`
	Token        string  `required:"" help:"Access token of the user there." env:"MESHYARD_IMPORT_TOKEN" placeholder:"TOKEN"`
	User         string  `help:"Username here. A missing user is created. On a terminal, the default is the name there, if you confirm it." placeholder:"NAME"`
	Rate         float64 `help:"Maximum number of requests in a second. The limits of the service are kept in any case. Default: ${default}." default:"3" placeholder:"N"`
	AllowPrivate bool    `help:"Connect to addresses of private networks, too: for a service in your own network. URLs that the service returns can then read from that network."`
}

func (c *importAccountCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	// Quotas apply only to what users upload themselves.
	s.LiftQuotas()
	if c.User == "" && !term.IsTerminal(int(os.Stdin.Fd())) {
		return errors.New("--user: required, unless standard input is a terminal")
	}
	client, err := legacyclient.New(c.From, legacyclient.Options{
		Token: c.Token, Rate: c.Rate, AllowPrivate: c.AllowPrivate, UserAgent: "meshyard/" + s.Version,
		Waiting: func(why string, wait time.Duration) {
			fmt.Fprintf(os.Stderr, "waiting %s: %s\n", wait.Round(time.Second), escaped(why))
		},
	})
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		if err := c.confirmUser(ctx, store, client); err != nil {
			return explainPrivate(err)
		}
		r, err := account.Import(ctx, store, client, c.User, func(line string) { fmt.Fprintln(os.Stderr, escaped(line)) })
		stdout.printf("imported %s, %s, %s, %s, %s and %s; %d had been imported before\n", count(r.Things, "thing"),
			count(r.Files, "file"), count(r.Images, "image"),
			count(r.Makes, "make"), count(r.Collections, "collection"), count(r.Likes, "like"), r.There)
		for _, problem := range r.Problems {
			stdout.println(escaped(problem))
		}
		if err != nil {
			return fmt.Errorf("%w (run it again to continue)", explainPrivate(err))
		}
		if len(r.Problems) > 0 {
			return fmt.Errorf("%s could not be imported, or not completely", count(len(r.Problems), "object"))
		}
		return nil
	})
}

// confirmUser sets User, if it is empty, to the name in the other service, after the operator has
// confirmed it: otherwise the other service would choose the user whose account it writes to.
func (c *importAccountCmd) confirmUser(ctx context.Context, store *catalogue.Catalogue,
	client *legacyclient.Client) error {
	if c.User != "" {
		return nil
	}
	name, err := account.Name(ctx, client)
	if err != nil {
		return err
	}
	which := "a new user"
	switch _, err := store.Admin().User(ctx, name); {
	case err == nil:
		which = "the existing user"
	case models.CodeOf(err) != models.NotFound:
		return err
	}
	fmt.Fprintf(os.Stderr, "import the account into %s %q? [y/N] ", which, name)
	answer, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return errors.New("nothing was imported: give the username with --user")
	}
	c.User = name
	return nil
}

// explainPrivate adds to the error of a connection to a private address how to allow it.
func explainPrivate(err error) error {
	if errors.Is(err, publicaddr.ErrPrivate) {
		return fmt.Errorf("%w: --allow-private connects to private addresses", err)
	}
	return err
}
