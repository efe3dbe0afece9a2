package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/png"
	"io"
	"log/slog"
	"maps"
	"slices"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/demo"
	"github.com/meshyard/meshyard/internal/mesh/render"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/collections"
	"github.com/meshyard/meshyard/models/comments"
	"github.com/meshyard/meshyard/models/makes"
	"github.com/meshyard/meshyard/models/uploads"
)

type demoCmd struct{}

func (*demoCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	s.LiftQuotas()
	return withNewStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		has, err := store.Maintenance.Admin().HasContent(ctx)
		if err != nil {
			return err
		}
		if has {
			return errors.New("the server has users or content: the demo needs a new one, " +
				"such as with --data ./demo")
		}
		d := &demoFill{store: store, users: map[string]auth.Caller{}, things: map[string]int64{}}
		if err := d.fill(ctx); err != nil {
			return fmt.Errorf("%w (the demo is incomplete: delete the data to start again)", err)
		}
		stdout.printf("the demo has %d users, %d things and %d collections; "+
			"meshyard serve creates the previews and shows it\n", len(demo.Users), len(demo.Things), len(demo.Collections))
		return nil
	})
}

// demoFill fills a server with the content of package demo, as users would.
type demoFill struct {
	store  *catalogue.Catalogue
	users  map[string]auth.Caller // by username
	things map[string]int64       // by name
}

func (d *demoFill) fill(ctx context.Context) error {
	for _, u := range demo.Users {
		if err := d.user(ctx, u); err != nil {
			return fmt.Errorf("user %s: %w", u.Name, err)
		}
	}
	for _, u := range demo.Users {
		for _, name := range u.Follows {
			if _, err := d.store.Social.Follow(ctx, d.users[u.Name], name); err != nil {
				return fmt.Errorf("user %s: follow %s: %w", u.Name, name, err)
			}
		}
	}
	for _, t := range demo.Things {
		if err := d.thing(ctx, t); err != nil {
			return fmt.Errorf("thing %s: %w", t.Name, err)
		}
	}
	for _, c := range demo.Collections {
		if err := d.collection(ctx, c); err != nil {
			return fmt.Errorf("collection %s: %w", c.Name, err)
		}
	}
	return nil
}

func (d *demoFill) user(ctx context.Context, u demo.User) error {
	created, err := d.store.Admin().CreateUser(ctx, u.Name, false)
	if err != nil {
		return err
	}
	caller := auth.Caller{UserID: created.ID, Scopes: auth.Scopes{auth.Read, auth.Write}}
	d.users[u.Name] = caller
	_, err = d.store.UpdateProfile(ctx, caller,
		models.ProfileChange{FirstName: &u.FirstName, LastName: &u.LastName, Location: &u.Location, Bio: &u.Bio})
	return err
}

func (d *demoFill) thing(ctx context.Context, t demo.Thing) error {
	caller := d.users[t.By]
	files, err := d.models(ctx, t)
	if err != nil {
		return err
	}
	n := models.NewThing{Name: t.Name, License: models.License(t.License), Category: t.Category, Description: t.Text,
		Instructions: t.Instructions, SourceURL: t.Source, Tags: t.Tags, Files: files, Publish: true}
	if t.RemixOf != "" {
		n.IsRemix, n.AncestorIDs = true, []int64{d.things[t.RemixOf]}
	}
	created, err := d.store.CreateThing(ctx, caller, n)
	if err != nil {
		return err
	}
	d.things[t.Name] = created.ID
	on := models.Target{Type: models.OnThing, ID: created.ID}
	for _, name := range t.LikedBy {
		if err := d.store.Social.Like(ctx, d.users[name], on); err != nil {
			return err
		}
		if _, _, err := d.store.Activity.RecordDownload(ctx, d.users[name], files[0].ID); err != nil {
			return err
		}
	}
	for _, m := range t.Makes {
		if err := d.print(ctx, t, m); err != nil {
			return fmt.Errorf("make of %s: %w", m.By, err)
		}
	}
	if t.Featured {
		moderator := caller
		moderator.Role = auth.Administrator
		moderator.Scopes = auth.Scopes{auth.Read, auth.Write, auth.Admin}
		if _, err := d.store.Moderation.FeatureThing(ctx, moderator, created.ID, true); err != nil {
			return err
		}
	}
	return d.comments(ctx, t.Comments, comments.NewComment{Target: &on})
}

// models uploads the models of a thing.
func (d *demoFill) models(ctx context.Context, t demo.Thing) (files []models.FinalizeFile, err error) {
	upload := func(name string, content []byte) error {
		f, err := d.store.Uploads.Upload(ctx, d.users[t.By], uploads.NewUpload{Name: name, Bytes: bytes.NewReader(content)})
		if err == nil {
			files = append(files, models.FinalizeFile{ID: f.ID})
		}
		return err
	}
	if t.File != "" {
		content, err := t.Content()
		if err != nil {
			return nil, err
		}
		return files, upload(t.File, content)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Shapes)) {
		if err := upload(name, t.Shapes[name]().STL()); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// print adds a make whose picture shows the first model of a thing in the color of the make.
func (d *demoFill) print(ctx context.Context, t demo.Thing, m demo.Make) error {
	shape := t.Shapes[slices.Min(slices.Collect(maps.Keys(t.Shapes)))]()
	printed := shape.Colored(m.Color[0], m.Color[1], m.Color[2])
	img, err := render.Render(ctx, printed, render.Options{Width: 1200, Height: 900})
	if err != nil {
		return err
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(png.Encode(w, img)) }()
	caller := d.users[m.By]
	f, err := d.store.Uploads.Upload(ctx, caller, uploads.NewUpload{Name: "print.png", Kind: models.Image, Bytes: r})
	if err := errors.Join(err, r.Close()); err != nil {
		return err
	}
	made, _, err := d.store.Makes.CreateMake(ctx, caller, makes.NewMake{ThingID: d.things[t.Name], Description: m.Text})
	if err != nil {
		return err
	}
	_, err = d.store.Finalize(ctx, caller, []models.FinalizeFile{{ID: f.ID}},
		models.Target{Type: models.OnMake, ID: made.ID})
	return err
}

// comments adds comments and their replies. n has the target or the parent.
func (d *demoFill) comments(ctx context.Context, all []demo.Comment, n comments.NewComment) error {
	for _, c := range all {
		n.Body = c.Body
		created, err := d.store.Comments.CreateComment(ctx, d.users[c.By], n)
		if err != nil {
			return fmt.Errorf("comment of %s: %w", c.By, err)
		}
		if err := d.comments(ctx, c.Replies, comments.NewComment{ParentID: &created.ID}); err != nil {
			return err
		}
	}
	return nil
}

func (d *demoFill) collection(ctx context.Context, c demo.Collection) error {
	caller := d.users[c.By]
	created, err := d.store.Collections.CreateCollection(ctx, caller,
		collections.NewCollection{Name: c.Name, Description: c.Text, Visibility: models.PublicCollection})
	if err != nil {
		return err
	}
	for _, name := range c.Things {
		if _, err := d.store.Collections.Collect(ctx, caller, created.ID, d.things[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
