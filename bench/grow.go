package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/meshyard/meshyard/internal/web/gallery"
)

// This file fills a catalogue as its users would: through the API, with small real meshes. Most
// things of a benchmark are imported, but those that were created last, which most pages show, have
// everything that use adds: previews, likes, comments, makes, collections and followers.

// description has a typical length. With one-line descriptions, all things would fit into so few
// pages that PostgreSQL would scan the whole table, as it does only in very small catalogues.
var description = strings.Repeat("Print it flat, without supports, and sand the edges before you glue the halves. ", 8)

// The contents that are grown.
const (
	growers         = 8
	collectionsEach = 3
	pendingUploads  = 24 // for each operation that finalizes
)

// grown is a catalogue that was filled through the API.
type grown struct {
	names, tokens []string // of the users who filled it
	admin         string   // token of an administrator
	things        []int64  // number n was created by user number n % growers
	files         []int64
	collections   []string
	pending       []pending // for requests that are recorded
}

// pending is a pending upload.
type pending struct {
	file, thing int64
	token       string
}

// documents are the documents of the gallery by name.
var documents = func() map[string]string {
	texts := make(map[string]string)
	for _, d := range gallery.Documents() {
		texts[d.Name] = d.Text
	}
	return texts
}()

// grower is a user who adds to the catalogue on a server. After an error, it does nothing.
type grower struct {
	address, token string
	*rand.Rand
	err error
}

// send sends a request and decodes the response.
func (g *grower) send(ctx context.Context, r request, into any) {
	if g.err == nil {
		g.err = r.by(g.token).into(ctx, g.address, into)
	}
}

// run runs a document of the gallery. All mutations have one variable, input.
func (g *grower) run(ctx context.Context, document string, input object, into any) {
	g.send(ctx, graphQL(documents[document], object{"input": input}), &struct{ Data any }{into})
}

// grow imports things, and adds more of them by the API of a server that runs the given binary. It
// waits for their previews and stops the server.
func grow(ctx context.Context, o options, binary, address string) (g *grown, err error) {
	o.server = binary
	if err := o.importCatalogue(ctx, address, o.things); err != nil {
		return nil, err
	}
	g = new(grown)
	for i := range growers {
		name := fmt.Sprintf("maker-%d", i)
		token, err := o.newUser(ctx, address, name)
		if err != nil {
			return nil, err
		}
		g.names, g.tokens = append(g.names, name), append(g.tokens, token)
	}
	if g.admin, err = o.newUser(ctx, address, "admin", "--admin"); err != nil {
		return nil, err
	}
	server, err := startServer(ctx, o, "--database-url", address)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	g.things = make([]int64, o.grown)
	files, collections := make([][]int64, o.grown), make([][]string, growers)
	err = g.together(server, func(user int, by *grower) {
		for n := user; n < o.grown; n += growers {
			g.things[n], files[n] = by.addThing(ctx, n)
		}
	})
	if err != nil {
		return nil, err
	}
	g.files = slices.Concat(files...)
	err = g.together(server, func(user int, by *grower) { collections[user] = g.use(ctx, user, by) })
	g.collections = slices.Concat(collections...)
	admin := &grower{server.address, g.admin, nil, err}
	for n := 0; n < o.grown; n += 10 {
		admin.run(ctx, "feature-thing", object{"id": strconv.FormatInt(g.things[n], 10)}, nil)
	}
	if admin.err != nil {
		return nil, admin.err
	}
	if g.pending, err = g.uploads(ctx, server.address, pendingUploads*3); err != nil {
		return nil, err
	}
	return g, awaitPreviews(ctx, o, address)
}

// together runs work for all users, of whom some work at the same time.
func (g *grown) together(server *process, work func(user int, by *grower)) error {
	var group errgroup.Group
	group.SetLimit(6)
	for user, token := range g.tokens {
		group.Go(func() error {
			by := &grower{server.address, token, rand.New(rand.NewPCG(uint64(user), 1)), nil}
			work(user, by)
			return by.err
		})
	}
	return group.Wait()
}

// addThing creates and publishes thing number n with three models and, for every second thing, a
// picture. It returns the IDs of the thing and its models.
func (g *grower) addThing(ctx context.Context, n int) (thing int64, models []int64) {
	var finalized []object
	for i := range 3 + n%2 {
		models = append(models, g.upload(ctx, n, i))
		finalized = append(finalized, object{"id": strconv.FormatInt(models[i], 10)})
	}
	noun := []string{"gear", "box", "holder", "toy", "tool", "bracket", "cover", "spool"}[n%8]
	name := fmt.Sprintf("%s %s for the %s, number %d", []string{"Small", "Spiral", "Parametric", "Folding",
		"Twisted"}[n%5], noun, []string{"desk", "bicycle", "printer"}[n%3], n)
	var created struct {
		CreateThing struct{ Thing struct{ ID string } }
	}
	g.run(ctx, "create-thing", object{
		"name": name, "license": []string{"CC", "CC_SA", "GPL"}[n%3], "category": []string{"tools", "toys-and-games",
			"gadgets", "art", "household"}[n%5],
		"description": description[:40+n%300], "instructions": description[:n%100], "tags": append(strings.Fields(name)[:2],
			noun+"s", "print in place"), "files": finalized,
	}, &created)
	g.run(ctx, "publish-thing", object{"id": created.CreateThing.Thing.ID}, nil)
	thing, _ = strconv.ParseInt(created.CreateThing.Thing.ID, 10, 64) // 0 after an error
	return thing, models[:3]
}

// upload uploads file number i of thing number n by REST.
func (g *grower) upload(ctx context.Context, n, i int) int64 {
	var uploaded struct{ ID int64 }
	name, content, err := someFile(n, i)
	if g.err == nil {
		g.err = err
	}
	g.send(ctx, postForm("/files/0/uploadFile", nil, "file", name, content), &uploaded)
	return uploaded.ID
}

// someFile returns file number i of thing number n. The first two models and the picture are not in
// any other thing.
func someFile(n, i int) (name string, content []byte, err error) {
	name = []string{"numpystl_HalfDonut_bin.stl", "assimp_cube_with_vertexcolors.obj", "happly_platonic_shelf_ascii.ply",
		"lib3mf_thumbnail.png"}[i]
	if content, err = os.ReadFile(filepath.Join("testdata/meshes", name)); err != nil {
		return "", nil, err
	}
	switch mark := fmt.Sprintf("# %d\n", n); filepath.Ext(name) {
	case ".stl":
		copy(content, mark) // within the header
	case ".obj", ".png":
		content = append(content, mark...)
	}
	return fmt.Sprintf("Part %d of %d%s", i+1, n, filepath.Ext(name)), content, nil
}

// use adds the picture of a user. Then the user follows others, and likes, comments on, makes,
// collects and downloads their things. It returns the user's collections.
func (g *grown) use(ctx context.Context, user int, by *grower) (collections []string) {
	by.run(ctx, "update-profile", object{"avatarId": strconv.FormatInt(by.upload(ctx, 1000+user, 3), 10),
		"firstName": "Ada"}, nil)
	for _, other := range []int{1, 2, 5} {
		by.run(ctx, "follow-user", object{"username": g.names[(user+other)%growers]}, nil)
	}
	for i := range collectionsEach {
		var created struct {
			CreateCollection struct{ Collection struct{ ID string } }
		}
		by.run(ctx, "create-collection", object{"name": fmt.Sprint("To print ", i), "description": description[:50]},
			&created)
		collections = append(collections, created.CreateCollection.Collection.ID)
	}
	for n, id := range g.things {
		if n%growers == user {
			continue
		}
		thing := strconv.FormatInt(id, 10)
		if by.IntN(3) == 0 {
			by.run(ctx, "like-thing", object{"id": thing}, nil)
		}
		if by.IntN(4) == 0 {
			var created struct {
				CreateComment struct{ Comment struct{ ID string } }
			}
			by.run(ctx, "create-comment", object{"target": object{"type": "THING", "id": thing},
				"body": description[:20+by.IntN(200)]}, &created)
			if by.IntN(2) == 0 {
				by.run(ctx, "create-comment", object{"parentId": created.CreateComment.Comment.ID, "body": "Thank you!"}, nil)
			}
		}
		if by.IntN(30) == 0 {
			by.run(ctx, "create-make", object{"thingId": thing, "description": description[:by.IntN(100)]}, nil)
		}
		if by.IntN(8) == 0 {
			by.run(ctx, "add-to-collection", object{"thingId": thing, "collectionId": collections[by.IntN(collectionsEach)]},
				nil)
		}
		if by.IntN(4) == 0 {
			by.run(ctx, "record-download", object{"fileId": strconv.FormatInt(g.files[3*n], 10)}, nil)
		}
	}
	return collections
}

// uploads makes n pending uploads on a server: staged for a thing by a form, so that all operations
// can finalize them.
func (g *grown) uploads(ctx context.Context, address string, n int) ([]pending, error) {
	_, content, err := someFile(0, 0)
	if err != nil {
		return nil, err
	}
	made := make([]pending, n)
	var group errgroup.Group
	group.SetLimit(16)
	for i := range made {
		group.Go(func() (err error) {
			thing := g.things[i%len(g.things)]
			token := g.tokens[i%len(g.things)%growers]
			made[i], err = stage(ctx, address, token, thing, content)
			return err
		})
	}
	return made, group.Wait()
}

// stage uploads a file by a form for a thing.
func stage(ctx context.Context, address, token string, thing int64, content []byte) (p pending, err error) {
	var staged struct {
		Action string
		Fields map[string]string
	}
	if err := post(fmt.Sprintf("/things/%d/files", thing), object{"filename": "part.stl"}).by(token).
		into(ctx, address, &staged); err != nil {
		return p, err
	}
	p = pending{thing: thing, token: token}
	if _, err := fmt.Sscanf(staged.Fields["key"], "pending/%d", &p.file); err != nil {
		return p, fmt.Errorf("key %q: %w", staged.Fields["key"], err)
	}
	var fields [][2]string
	for name, value := range staged.Fields {
		fields = append(fields, [2]string{name, value})
	}
	action, err := url.Parse(staged.Action)
	if err != nil {
		return p, err
	}
	form := postForm(action.Path, fields, "file", "part.stl", content)
	got, err := form.send(ctx, address)
	if err != nil && got.Status != http.StatusNoContent && got.Status != http.StatusSeeOther &&
		got.Status != http.StatusCreated {
		return p, err
	}
	return p, nil
}

// awaitPreviews waits until the server has made all previews.
func awaitPreviews(ctx context.Context, o options, address string) error {
	for left := 1; left > 0; {
		if err := query(ctx, address, "SELECT count(*) FROM previews WHERE state IN ('waiting', 'running')",
			&left); err != nil {
			return err
		}
		time.Sleep(200 * time.Millisecond)
	}
	return nil
}
