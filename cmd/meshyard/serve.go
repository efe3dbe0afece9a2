package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/internal/config"
)

type serveCmd struct {
	config.ServeSettings `embed:""`
}

func (c *serveCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) (err error) {
	if err := server.CheckSettings(s); err != nil {
		return err
	}
	surviveHangup(logger)
	surviveBrokenPipe()
	a, err := server.OpenWait(ctx, s, logger, c.Wait)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	// Listen first, so that nothing is created or printed if the address is in use.
	listener, err := a.Listen()
	if err != nil {
		return err
	}
	// Metrics are served until the last request has ended.
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	if _, err := a.ListenMetrics(serving); err != nil {
		return errors.Join(err, listener.Close())
	}
	if s.Roles.Has(config.RoleWeb) {
		name, token, err := a.Store.Account.Admin().FirstAdministrator(ctx)
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		fmt.Print(greeting(s, name, token)) // not to stdout: a server works without its greeting
	}
	return a.Serve(ctx, listener, c.Drain)
}

// surviveHangup makes SIGHUP only log that it has no effect. Tools that rotate logs or reload
// services send it. On a terminal it still ends the process, because it means that the terminal was
// closed.
func surviveHangup(logger *slog.Logger) {
	if term.IsTerminal(int(os.Stderr.Fd())) {
		return
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for range hangups {
			logger.Info("SIGHUP has no effect: settings and files are read at the start")
		}
	}()
}

// surviveBrokenPipe makes writes of log lines fail after the program that reads them through a pipe
// has ended. By default, the first one would end the process, with all requests in progress.
func surviveBrokenPipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// greeting returns the text that is printed at the start: the URLs of the server and how to get a
// token. name and token are those of the administrator that was just created, or empty.
func greeting(s config.Settings, name, token string) string {
	var b strings.Builder
	if token != "" {
		fmt.Fprintf(&b, "There was no administrator, so the user %s was created. This access token is shown once:\n\n    %s\n\n", name, token)
	}
	fmt.Fprintf(&b, "Start page  %s/\n", s.BaseURL)
	if !s.Hardened {
		fmt.Fprintf(&b, "GraphiQL    %s/graphiql\n", s.BaseURL)
	}
	fmt.Fprintf(&b, "REST        %s/reference\n", s.BaseURL)
	fmt.Fprintf(&b, "Tokens      %s/login/tokens\n\n", s.BaseURL)
	if name == "" {
		name = "USERNAME"
		fmt.Fprintf(&b, "To make a token in a shell:   %s token create %s\n", os.Args[0], name)
		fmt.Fprintf(&b, "For an administrator:         %s token create %s --scope read,write,admin\n", os.Args[0], name)
	}
	fmt.Fprintf(&b, "To sign in with a password:   %s user password %s\n", os.Args[0], name)
	fmt.Fprintln(&b, "(Commands need the same settings as this server.)")
	return b.String() + "\n"
}

type migrateCmd struct{}

func (*migrateCmd) Run(ctx context.Context, s config.Settings) error {
	applied, err := server.Migrate(ctx, s)
	if err != nil {
		return err
	}
	for _, name := range applied {
		stdout.println("applied", name)
	}
	stdout.println("the database is up to date")
	return nil
}
