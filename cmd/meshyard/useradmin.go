package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/models/catalogue"
)

// userRecord is a user in the output of commands with --json.
type userRecord struct {
	ID           int64      `json:"id"`
	Username     string     `json:"username"`
	Role         auth.Role  `json:"role"`
	Name         string     `json:"name"`
	Email        string     `json:"email"`
	CreatedAt    time.Time  `json:"created_at"`
	LastActiveAt *time.Time `json:"last_active_at"` // accurate to an hour
	SuspendedAt  *time.Time `json:"suspended_at"`
	Reason       string     `json:"reason,omitempty"` // why the user is suspended
	Things       int64      `json:"things"`
	Makes        int64      `json:"makes"`
	Bytes        int64      `json:"bytes"` // of files
}

func recordOf(u *models.User) userRecord {
	name := u.FirstName
	if name != "" && u.LastName != "" {
		name += " "
	}
	return userRecord{
		ID: u.ID, Username: u.Username, Role: u.Role(), Name: name + u.LastName, Email: u.Email, CreatedAt: u.CreatedAt,
		LastActiveAt: u.LastActiveAt,
		SuspendedAt:  u.SuspendedAt, Reason: u.SuspensionReason, Things: u.ThingCount, Makes: u.MakeCount, Bytes: u.HeldBytes,
	}
}

func when(at *time.Time) string {
	if at == nil {
		return "never"
	}
	return at.Format(time.RFC3339)
}

func (r userRecord) state() string {
	if r.SuspendedAt != nil {
		return "suspended"
	}
	return "active"
}

func printJSON(v any) error {
	e := json.NewEncoder(stdout)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

type userListCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

func (c *userListCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		users := []userRecord{}
		err := store.Account.Admin().EachUser(ctx, func(u *models.User) error {
			users = append(users, recordOf(u))
			return nil
		})
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(users)
		}
		out := table("ID", "USERNAME", "ROLE", "STATE", "CREATED", "LAST ACTIVE", "THINGS")
		for _, u := range users {
			out.row(strconv.FormatInt(u.ID, 10), u.Username, string(u.Role), u.state(), when(&u.CreatedAt), when(u.LastActiveAt),
				strconv.FormatInt(u.Things, 10))
		}
		return out.Flush()
	})
}

type userShowCmd struct {
	Name string `arg:"" help:"Username."`
	JSON bool   `name:"json" help:"Print JSON."`
}

func (c *userShowCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		u, err := store.Admin().User(ctx, c.Name)
		if err != nil {
			return err
		}
		return showUser(u, c.JSON)
	})
}

// showUser prints a user.
func showUser(user *models.User, asJSON bool) error {
	u := recordOf(user)
	if asJSON {
		return printJSON(u)
	}
	out := table("USERNAME", u.Username)
	for _, line := range [][2]string{
		{"ID", strconv.FormatInt(u.ID, 10)}, {"ROLE", string(u.Role)}, {"STATE", u.state()}, {"NAME", u.Name},
		{"E-MAIL", u.Email},
		{"CREATED", when(&u.CreatedAt)}, {"LAST ACTIVE", when(u.LastActiveAt)}, {"SUSPENDED", when(u.SuspendedAt)},
		{"REASON", u.Reason},
		{"THINGS", strconv.FormatInt(u.Things, 10)}, {"MAKES", strconv.FormatInt(u.Makes, 10)},
		{"BYTES", strconv.FormatInt(u.Bytes, 10)},
	} {
		if line[1] != "" {
			out.row(line[:]...)
		}
	}
	return out.Flush()
}

type userRenameCmd struct {
	Name string `arg:"" help:"Username."`
	To   string `arg:"" help:"New username. Others can take the old one at once."`
	JSON bool   `name:"json" help:"Print the user as JSON."`
}

func (c *userRenameCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return changeUser(ctx, s, logger, c.Name, c.JSON, "renamed to "+c.To, func(admin account.Admin) (*models.User, error) {
		return admin.RenameUser(ctx, c.Name, c.To)
	})
}

type userRoleCmd struct {
	Name string    `arg:"" help:"Username."`
	Role auth.Role `arg:"" help:"New role: member, moderator or administrator." enum:"member,moderator,administrator"`
	JSON bool      `name:"json" help:"Print the user as JSON."`
}

func (c *userRoleCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return changeUser(ctx, s, logger, c.Name, c.JSON, "given the role "+string(c.Role),
		func(admin account.Admin) (*models.User, error) {
			return admin.SetUserRole(ctx, c.Name, c.Role)
		})
}

type userSuspendCmd struct {
	Name   string `arg:"" help:"Username."`
	Reason string `help:"Why, for the user." default:"The account was suspended by the operator." placeholder:"TEXT"`
	JSON   bool   `name:"json" help:"Print the user as JSON."`
}

func (c *userSuspendCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return changeUser(ctx, s, logger, c.Name, c.JSON, "suspended", func(admin account.Admin) (*models.User, error) {
		return admin.SuspendAndRevokeTokens(ctx, c.Name, c.Reason)
	})
}

type userUnsuspendCmd struct {
	Name string `arg:"" help:"Username."`
	JSON bool   `name:"json" help:"Print the user as JSON."`
}

func (c *userUnsuspendCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return changeUser(ctx, s, logger, c.Name, c.JSON, "unsuspended", func(admin account.Admin) (*models.User, error) {
		return admin.UnsuspendUser(ctx, c.Name)
	})
}

// changeUser changes a user and prints what was done or, with --json, the user.
func changeUser(ctx context.Context, s config.Settings, logger *slog.Logger, name string, asJSON bool, done string,
	change func(account.Admin) (*models.User, error)) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		u, err := change(store.Account.Admin())
		switch {
		case err != nil:
			return err
		case asJSON:
			return showUser(u, true)
		}
		stdout.printf("user %s was %s\n", name, done)
		return nil
	})
}

type userDeleteCmd struct {
	Name string `arg:"" help:"Username."`
	Yes  bool   `help:"Delete the account. Without this flag the command only says what it would delete."`
	JSON bool   `name:"json" help:"Print the user as JSON."`
}

func (c *userDeleteCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		u, err := store.Admin().User(ctx, c.Name)
		if err != nil {
			return err
		}
		if c.JSON {
			if err := showUser(u, true); err != nil {
				return err
			}
		}
		owns := fmt.Sprintf("%s, %s and %s of files", count(u.ThingCount, "thing"), count(u.MakeCount, "make"),
			count(u.HeldBytes, "byte"))
		if !c.Yes {
			return errors.New("user " + u.Username + " has " + owns + ": add --yes to delete the account and all of it")
		}
		if err := store.Account.Admin().DeleteUser(ctx, c.Name); err != nil {
			return err
		}
		if !c.JSON {
			stdout.printf("deleted user %s; running servers delete %s\n", u.Username, owns)
		}
		return nil
	})
}
