// Command meshyard runs the Meshyard server, and contains its administration commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/willabides/kongplete"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/telemetry"
)

const settingsGroup = "Settings (each is also an environment variable; append _FILE to read it from a file)"

type cli struct {
	config.Settings `group:"Settings (each is also an environment variable; append _FILE to read it from a file)"`

	VersionFlag kong.VersionFlag `name:"version" help:"Print the version and exit."`

	Serve   serveCmd   `cmd:"" help:"Run the server. When there is no administrator it creates one and prints an access token."`
	Migrate migrateCmd `cmd:"" help:"Create the database, or bring it up to date. serve does this too."`
	User    struct {
		List      userListCmd      `cmd:"" help:"List all users."`
		Show      userShowCmd      `cmd:"" help:"Show a user."`
		Create    userCreateCmd    `cmd:"" help:"Create a user."`
		Link      userLinkCmd      `cmd:"" help:"Link an account of the OpenID provider to a user, so that signing in with the provider signs in this user."`
		Password  userPasswordCmd  `cmd:"" help:"Set the password of a user, read from standard input: one line. The user is signed out everywhere; access tokens stay valid."`
		Rename    userRenameCmd    `cmd:"" help:"Give a user another name."`
		Role      userRoleCmd      `cmd:"" help:"Change the role of a user."`
		Suspend   userSuspendCmd   `cmd:"" aliases:"disable" help:"Suspend a user, sign them out, revoke their access tokens and disable their webhooks. They cannot sign in."`
		Unsuspend userUnsuspendCmd `cmd:"" aliases:"enable" help:"End the suspension of a user. Revoked access tokens stay revoked, and webhooks disabled."`
		Delete    userDeleteCmd    `cmd:"" help:"Delete the account of a user with everything they own. This cannot be undone."`
	} `cmd:"" help:"Manage users."`
	Invitation struct {
		Create invitationCreateCmd `cmd:"" help:"Create an invitation and print its link, by which one person can create an account. It cannot be shown again."`
		List   invitationListCmd   `cmd:"" help:"List the invitations that can be used."`
		Revoke invitationRevokeCmd `cmd:"" help:"Revoke an invitation."`
	} `cmd:"" help:"Manage invitations."`
	Token struct {
		Create tokenCreateCmd `cmd:"" help:"Create an access token of a user and print it. It cannot be shown again."`
		List   tokenListCmd   `cmd:"" help:"List the access tokens of a user."`
		Revoke tokenRevokeCmd `cmd:"" help:"Revoke an access token. Running servers reject it from the next request on."`
	} `cmd:"" help:"Manage access tokens."`
	App struct {
		Create appCreateCmd `cmd:"" help:"Register an OAuth 2 application and print its client id and its secret, which cannot be shown again."`
		List   appListCmd   `cmd:"" help:"List the registered applications."`
		Delete appDeleteCmd `cmd:"" help:"Delete an application and all tokens issued to it."`
	} `cmd:"" help:"Manage OAuth 2 applications."`
	Webhook struct {
		Create     webhookCreateCmd     `cmd:"" help:"Create a webhook of a user and print its id and its secret, which cannot be shown again."`
		List       webhookListCmd       `cmd:"" help:"List all webhooks."`
		Enable     webhookEnableCmd     `cmd:"" help:"Enable a webhook that was disabled, by its owner, by the operator, or because its receiver failed for three days. Events that happened meanwhile are not sent."`
		Disable    webhookDisableCmd    `cmd:"" help:"Disable a webhook. Its waiting messages are not sent. Its owner can enable it again, unless they are suspended."`
		Delete     webhookDeleteCmd     `cmd:"" help:"Delete a webhook with the log of its deliveries."`
		Deliveries webhookDeliveriesCmd `cmd:"" help:"List the latest deliveries to a webhook."`
	} `cmd:"" help:"Manage webhooks, which send events to URLs."`
	Job struct {
		List  jobListCmd  `cmd:"" help:"List the background jobs that failed: those that wait for another attempt, and those that had their last one in the last 7 days."`
		Retry jobRetryCmd `cmd:"" help:"Run failed jobs now instead of at their next attempt, once more if they had their last one. Running servers do it."`
	} `cmd:"" help:"Manage failed background jobs."`
	Preview struct {
		List  previewListCmd  `cmd:"" help:"List the previews that failed, each with a file and the reason."`
		Retry previewRetryCmd `cmd:"" help:"Make failed previews again. Running servers do it. derive --again failed queues all of them."`
	} `cmd:"" help:"Manage failed previews."`
	Library struct {
		List     libraryListCmd     `cmd:"" help:"List the libraries of the settings, each with its folder, its things and files, and its last scan."`
		Scan     libraryScanCmd     `cmd:"" help:"Scan libraries for new, changed, moved and missing files, and read the new ones. The server does this at an interval. Run it again to continue."`
		Problems libraryProblemsCmd `cmd:"" help:"List missing files, and what scans skipped and why. Exit status 1 if there are any."`
	} `cmd:"" help:"Manage libraries, which are folders that --library names."`
	Fsck    fsckCmd    `cmd:"" help:"Compare database and bucket. Prints the differences; exit status 1 if there are any."`
	GC      gcCmd      `cmd:"" name:"gc" help:"Remove expired uploads and objects that no file refers to. The server does this every hour."`
	Backup  backupCmd  `cmd:"" help:"Back up database and bucket to a folder, while servers run. A second backup into the same folder copies only what is new."`
	Restore restoreCmd `cmd:"" help:"Restore a backup to an empty database and a bucket."`
	Export  exportCmd  `cmd:"" help:"Write everything, or one user, to an archive that does not depend on the database engine, while servers run. Run it again to continue."`
	Import  struct {
		Archive   importArchiveCmd   `cmd:"" help:"Load an archive that export made: everything into an empty database, with its ids, or one user with new ids. Run it again to continue."`
		Account   importAccountCmd   `cmd:"" help:"Load the account of a user of another Meshyard, or of the service that Meshyard replaces, over its REST API: things with files and images, makes, collections and likes. Run it again to continue."`
		Catalogue importCatalogueCmd `cmd:"" help:"Load the tables of a catalogue: things.csv, files.csv, tags.csv and licences.csv in a folder. It creates a user for each creator who does not exist. Ids are kept; existing rows are not changed."`
		Folder    importFolderCmd    `cmd:"" help:"Load a folder of things, each a folder with models, images, a README, a license and perhaps a metadata file (thing.json). Run it again to continue: what the owner has already is skipped."`
		Zip       importZipCmd       `cmd:"" help:"Load ZIP archives of things, like import folder."`
		URL       importURLCmd       `cmd:"" name:"url" help:"Load the things at a URL as drafts: of a thing of another Meshyard or of a service with its REST API, a data package, a ZIP archive or a model file. Run it again to add what is new."`
		Things    importThingsCmd    `cmd:"" help:"Load things from a CSV file with a header line, or from JSON Lines: all rows, or none if one is wrong. It creates a user for each creator who does not exist; the operator can set their passwords. Columns: name and creator (required), license, category, subcategory, description, tags, date, id."`
	} `cmd:"" help:"Import data."`
	Demo        demoCmd        `cmd:"" help:"Fill a new server with a few users, things with models, makes, comments and collections, to look around. Refused on a server that has users or content."`
	Derive      deriveCmd      `cmd:"" help:"Queue previews that files lack, or that an older version made. Running servers make them."`
	Recount     recountCmd     `cmd:"" help:"Recompute all counts and the popularity of all things."`
	Doctor      doctorCmd      `cmd:"" help:"Check whether the database needs statistics, a vacuum, or an interrupted import finished, and whether previews or background jobs fail. Prints the problems; exit status 1 if there are any."`
	Healthcheck healthcheckCmd `cmd:"" help:"Ask the server on the listen address whether it is ready. Exit status 1 if it is not."`
	Schema      schemaCmd      `cmd:"" help:"Print the GraphQL schema."`
	Documents   documentsCmd   `cmd:"" help:"List the registered GraphQL documents, each with the SHA-256 by which clients may ask for it, or print one."`
	OpenAPI     openAPICmd     `cmd:"" name:"openapi" help:"Print the OpenAPI description of the REST API."`
	Version     versionCmd     `cmd:"" help:"Print the version."`
	Completion  completionCmd  `cmd:"" help:"Print the code that turns on completion in a shell: source <(meshyard completion bash)."`
}

const description = `Meshyard stores and shares 3D models: a GraphQL API, and a REST API for existing clients.

Exit status: 0 success; 1 failure, or a check found something; 2 wrong command line or setting.`

func main() {
	if os.Getenv("GOGC") == "" {
		// With a live heap of a few MB, the default would collect garbage about 25 times a second under
		// load.
		debug.SetGCPercent(400)
	}
	if os.Getenv("AWS_EC2_METADATA_DISABLED") == "" {
		// Otherwise the AWS SDK asks 169.254.169.254 for credentials, and waits, on machines that
		// have no such service.
		os.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal starts a graceful shutdown and restores the default signal handling, so a
	// second one ends the process at once.
	context.AfterFunc(ctx, stop)

	environment := os.Environ() // unknown variables are reported even if they are empty
	removeEmptyVariables()
	var c cli
	parser := kong.Must(&c, append(mappers(),
		kong.Name("meshyard"), kong.Description(description), kong.Vars{"version": about()},
		kong.Writers(stdout, os.Stderr), kong.Exit(exit), kong.Help(printHelp), kong.Resolvers(kong.ResolverFunc(fromFile)),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)...)
	kongplete.Complete(parser)
	args := os.Args[1:]
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := parser.Parse(args)
	if c.OTLPEndpoint == "" {
		c.OTLPEndpoint = os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT")
	}
	if err == nil {
		err = c.Complete()
	}
	if err == nil {
		err = server.CheckURLs(ctx, c.Settings)
	}
	flags := flagsOf(parser.Model.Node)
	if err != nil {
		fmt.Fprintln(os.Stderr, "meshyard:", nameVariable(err, flags, args))
		os.Exit(2)
	}
	logger := telemetry.NewLogger(os.Stderr, c.LogLevel, c.LogFormat)
	slog.SetDefault(logger)
	for _, warning := range config.UnknownVariables(environment, variables(flags)) {
		logger.Warn(warning)
	}
	command.BindTo(ctx, (*context.Context)(nil))
	command.Bind(logger)
	c.Settings.Version = version
	err = command.Run(c.Settings)
	if invalid := new(config.InvalidError); errors.As(err, &invalid) {
		fmt.Fprintln(os.Stderr, "meshyard:", nameVariable(err, flags, args))
		os.Exit(2)
	}
	if err != nil {
		message := escaped(database.Explain(err).Error())
		if ctx.Err() != nil {
			message = "interrupted: " + message
		}
		fmt.Fprintln(os.Stderr, "meshyard:", message)
		if wrongArgument(command.Command(), err) {
			os.Exit(2)
		}
		os.Exit(1)
	}
	exit(0)
}

// wrongArgument reports whether an error of a command is about an argument. Those of imports are
// about the data.
func wrongArgument(command string, err error) bool {
	var bad *apierror.Error
	return errors.As(err, &bad) && bad.Code == apierror.BadInput && !strings.HasPrefix(command, "import ")
}

// exit ends the process. The status is 1 instead of 0 if standard output could not be written.
func exit(status int) {
	if err := stdout.failed(); err != nil && status == 0 {
		fmt.Fprintln(os.Stderr, "meshyard: standard output:", err)
		status = 1
	}
	os.Exit(status)
}

// flagsOf returns the flags of a command and of its subcommands.
func flagsOf(node *kong.Node) []*kong.Flag {
	flags := slices.Clone(node.Flags)
	for _, child := range node.Children {
		flags = append(flags, flagsOf(child)...)
	}
	return flags
}

// variables returns the environment variables of flags.
func variables(flags []*kong.Flag) []string {
	var names []string
	for _, flag := range flags {
		names = append(names, flag.Envs...)
	}
	return names
}

// printHelp prints the help of a command with the command's own flags. Every command also takes the
// settings, but only serve lists them.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	selected := ctx.Selected()
	if selected != nil && selected.Name == "serve" {
		return kong.DefaultHelpPrinter(options, ctx)
	}
	for _, flag := range ctx.Model.Flags {
		if flag.Group != nil && flag.Group.Title == settingsGroup {
			flag.Hidden = true
		}
	}
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	_, err := fmt.Fprint(ctx.Stdout, `
Every command also takes the settings, as flags such as --data or --database-url, or as environment
variables such as MESHYARD_DATA or MESHYARD_DATABASE_URL. "meshyard serve --help" lists them.
`)
	return err
}
