// Package account imports the account of a user from another service with the same REST API:
// another Meshyard, or the service that Meshyard replaces.
package account

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/legacyclient"
	"github.com/meshyard/meshyard/internal/publicaddr"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/importer"
)

// Report contains the numbers of objects that one run of an import added, and the problems with
// others.
type Report struct {
	Username                                         string
	Things, Files, Images, Makes, Collections, Likes int
	There                                            int // objects imported by earlier runs
	Problems                                         []string
}

// Name returns the name in the other service of the user whom the client's token belongs to. The
// service can return any name, so it must not choose the local user.
func Name(ctx context.Context, c *legacyclient.Client) (string, error) {
	me, err := profile(ctx, c)
	return me.Name, err
}

func profile(ctx context.Context, c *legacyclient.Client) (me user, err error) {
	if err := c.JSON(ctx, "/users/me", &me); err != nil {
		return me, err
	}
	if me.Name == "" {
		return me, errors.New("/users/me has no name: the token must be one of a user")
	}
	return me, nil
}

// Import imports the account that the client's token belongs to into the account of a local user,
// which it creates if it does not exist. Each object is imported once, so an interrupted import
// continues when it is run again. progress is called with a line for each object, unless it is nil.
func Import(ctx context.Context, store *catalogue.Catalogue, c *legacyclient.Client, username string,
	progress func(string)) (*Report, error) {
	im := &importing{store: store, client: c, progress: progress, report: new(Report)}
	if err := im.begin(ctx, username); err != nil {
		return im.report, err
	}
	for _, step := range []func(context.Context) error{im.things, im.makes, im.collections, im.likes} {
		if err := step(ctx); err != nil {
			return im.report, err
		}
	}
	return im.report, nil
}

// importing is an import in progress.
type importing struct {
	store    *catalogue.Catalogue
	client   *legacyclient.Client
	source   *importer.AccountSource
	progress func(string)
	report   *Report
	name     string // of the user in the other service
	page     string // URL of the page of the user there
	path     string // of the user in the REST API there
	caller   auth.Caller
	category map[string]bool // the slugs and names of categories
}

// logf passes a formatted line to the progress function, if there is one.
func (im *importing) logf(format string, args ...any) {
	if im.progress != nil {
		im.progress(fmt.Sprintf(format, args...))
	}
}

// problem records that something could not be imported, or not as it is in the other service.
func (im *importing) problem(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	im.report.Problems = append(im.report.Problems, text)
	im.logf("%s", text)
}

// begin finds the user in both services, creates the local one if it does not exist, and loads the
// categories.
func (im *importing) begin(ctx context.Context, username string) error {
	me, err := profile(ctx, im.client)
	if err != nil {
		return err
	}
	im.name, im.page, im.path = me.Name, me.PublicURL, "/users/"+escape(me.Name)
	admin := im.store.Admin()
	u, err := admin.User(ctx, username)
	if models.CodeOf(err) == models.NotFound {
		if u, err = admin.CreateUser(ctx, username, false); err == nil {
			im.logf("created the user %s", username)
			_, err = im.store.UpdateProfile(ctx, callerOf(u), models.ProfileChange{FirstName: &me.FirstName,
				LastName: &me.LastName, Bio: &me.Bio, Location: &me.Location})
			if models.CodeOf(err) == models.BadInput {
				im.problem("the profile: %v", err)
				err = nil
			}
		}
	}
	if err != nil {
		return err
	}
	im.report.Username, im.caller = u.Username, callerOf(u)
	if im.source, err = im.store.Importer.Admin().AccountSource(ctx, im.client.Origin); err != nil {
		return err
	}
	tree, err := im.store.Categories(ctx)
	if err != nil {
		return err
	}
	im.category = map[string]bool{}
	for _, c := range tree.All {
		im.category[c.Slug], im.category[c.Name] = true, true
	}
	return nil
}

func callerOf(u *models.User) auth.Caller {
	return auth.Caller{UserID: u.ID, Role: u.Role(), Scopes: auth.Scopes{auth.Read, auth.Write}}
}

// isObjectError reports whether an import continues after an error with one object: the other
// service or this server rejected the object. After a 401 of the other service, it does not
// continue.
func isObjectError(err error) bool {
	if status, ok := errors.AsType[*legacyclient.StatusError](err); ok {
		return status.Status != http.StatusUnauthorized
	}
	return errors.Is(err, errOther) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, publicaddr.ErrPrivate) ||
		slices.Contains([]models.Code{models.BadInput, models.TooLarge, models.NotFound, models.Forbidden, models.Conflict},
			models.CodeOf(err))
}

// each calls one with the ID of each object in a list of the other service, oldest first. It
// records errors with one object (see isObjectError) as problems, continues, and returns the first
// other error.
func (im *importing) each(ctx context.Context, noun, path string, one func(ctx context.Context, id int64) error) error {
	ids, err := im.list(ctx, path)
	if err != nil {
		return err
	}
	for i, id := range ids {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := one(ctx, id)
		switch {
		case isObjectError(err):
			im.problem("%s %d: %v", noun, id, err)
		case err != nil:
			return fmt.Errorf("%s %d: %w", noun, id, err)
		}
		if err == nil {
			im.logf("%d of %d %ss", i+1, len(ids), noun)
		}
	}
	return nil
}

// list returns the IDs in a list of the other service, oldest first. The service returns the newest
// first.
func (im *importing) list(ctx context.Context, path string) (ids []int64, err error) {
	err = legacyclient.Each(ctx, im.client, path, func(o struct{ ID int64 }) error {
		ids = append(ids, o.ID)
		return nil
	})
	slices.Reverse(ids)
	return ids, err
}

// thingHere returns the local ID of an imported thing that still exists, or 0. id is the ID in the
// other service.
func (im *importing) thingHere(ctx context.Context, id int64) (int64, error) {
	here, err := im.source.Things(ctx, id)
	return here[id], err
}

// known returns the local ID of an imported object, or 0. id is the ID in the other service.
func (im *importing) known(ctx context.Context, noun string, id int64) (int64, error) {
	here, err := im.source.IDs(ctx, noun, id)
	return here[id], err
}
