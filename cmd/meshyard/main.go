// Command meshyard is the server and all that runs it.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/telemetry"
)

type cli struct {
	config.Settings `group:"Settings (each is also a variable MESHYARD_…)"`

	Serve   serveCmd   `cmd:"" help:"Run the server. On a catalogue without users it makes the user admin and prints a token."`
	Migrate migrateCmd `cmd:"" help:"Bring the database up to date. serve does it too."`
	User    struct {
		Create   userCreateCmd   `cmd:"" help:"Make a user."`
		Password userPasswordCmd `cmd:"" help:"Set the password of a user, read from standard input: one line. He is signed out everywhere; his tokens go on working."`
	} `cmd:"" help:"Users."`
	Token struct {
		Create tokenCreateCmd `cmd:"" help:"Make an access token of a user and print it: it is shown this once."`
		List   tokenListCmd   `cmd:"" help:"List the access tokens of a user: id, name, scopes, made, last used, end."`
		Revoke tokenRevokeCmd `cmd:"" help:"End an access token. A running server notices within a second."`
	} `cmd:"" help:"Access tokens."`
	App struct {
		Create appCreateCmd `cmd:"" help:"Make an application known, and print its client id and its secret, which is shown this once."`
		List   appListCmd   `cmd:"" help:"List the applications: client id, kind, name, addresses."`
		Delete appDeleteCmd `cmd:"" help:"Forget an application, with all tokens that it was given."`
	} `cmd:"" help:"Applications that may ask users to let them in, by OAuth 2."`
	Fsck   fsckCmd `cmd:"" help:"Compare database and bucket. Exit status 1, and a list, where they disagree."`
	GC     gcCmd   `cmd:"" name:"gc" help:"Remove expired uploads, and objects that no file names. The server does it every hour."`
	Import struct {
		Catalogue importCatalogueCmd `cmd:"" help:"Load the tables of a catalogue: things.csv, files.csv, tags.csv and licences.csv in a folder. Ids stay; what is there already is left as it is."`
		Things    importThingsCmd    `cmd:"" help:"Load things from a file of your own, CSV with a header line or JSON Lines: all of them, or none where a row is wrong. Columns: name, creator, license, category, subcategory, description, tags, date, id; the first two are needed."`
	} `cmd:"" help:"Bring things in."`
	Derive    deriveCmd    `cmd:"" help:"Ask for the previews that files lack, or that an older version made: servers make them."`
	Recount   recountCmd   `cmd:"" help:"Find all counts and the popularity of all things anew from the rows they follow from."`
	Doctor    doctorCmd    `cmd:"" help:"Tell what the database is in need of: statistics, a vacuum, an import that was cut short. Exit status 1 where there is something."`
	Schema    schemaCmd    `cmd:"" help:"Print the GraphQL schema."`
	Documents documentsCmd `cmd:"" help:"List the registered GraphQL documents, each with the SHA-256 by which clients may ask for it, or print one as it is to be sent."`
	OpenAPI   openAPICmd   `cmd:"" name:"openapi" help:"Print the OpenAPI description of the REST face."`
}

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // a live heap of a few MB would be collected some 25 times a second under load
	}
	logger := telemetry.NewLogger(os.Stderr)
	slog.SetDefault(logger)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal asks to end; the default of the second, which ends at once, comes back with it.
	context.AfterFunc(ctx, stop)

	var c cli
	command := kong.Parse(&c,
		kong.Name("meshyard"),
		kong.Description("Meshyard catalogues shareable 3D models: a GraphQL API, and a REST face for programs written for the old one."),
		kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, Tree: true}),
	)
	command.BindTo(ctx, (*context.Context)(nil))
	command.Bind(logger)
	if err := c.Complete(); err != nil {
		fmt.Fprintln(os.Stderr, "meshyard:", err)
		os.Exit(2)
	}
	if err := command.Run(c.Settings); err != nil {
		fmt.Fprintln(os.Stderr, "meshyard:", err)
		os.Exit(1)
	}
}
