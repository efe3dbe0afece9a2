package main

import (
	"context"
	"encoding/csv"
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

	"github.com/meshyard/meshyard/internal/gallery"
)

// This file fills a catalogue as its users would: through the API, with small real meshes. Most
// things of a benchmark are imported, but those that were created last, which most pages show, have
// everything that use adds: previews, likes, comments, makes, collections and followers.

// description has a typical length. With one-line descriptions, all things would fit into so few
// pages that PostgreSQL would scan the whole table, as it does only in very small catalogues.
var description = strings.Repeat("Print it flat, without supports, and sand the edges before you glue the halves. ", 8)

// The contents that are grown.
const (
	growers         = 12
	collectionsEach = 3
	pendingUploads  = 24 // for each operation that finalizes
	makesEvery      = 3  // things
)

// grown is a catalogue that was filled through the API.
type grown struct {
	names, tokens []string // of the users who filled it
	admin         string   // token of an administrator
	things        []int64
	creators      []int // of the things, as indexes of names
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

// grower is a user who adds to the catalogue on a server.
type grower struct {
	address, token string
	*rand.Rand
}

// run runs a document of the gallery. All mutations have one variable, input.
func (g grower) run(ctx context.Context, document string, input object, into any) error {
	var response struct{ Data any }
	response.Data = into
	return graphQL(documents[document], object{"input": input}).by(g.token).into(ctx, g.address, &response)
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
	names, err := thingNames()
	if err != nil {
		return nil, err
	}
	g.things, g.creators = make([]int64, o.grown), make([]int, o.grown)
	files := make([][]int64, o.grown)
	err = g.together(server, func(user int, by grower) error {
		for n := user; n < o.grown; n += growers {
			var err error
			if g.things[n], files[n], err = by.addThing(ctx, names[n%len(names)], n); err != nil {
				return err
			}
			g.creators[n] = user
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	g.files = slices.Concat(files...)
	collections := make([][]string, growers)
	err = g.together(server, func(user int, by grower) (err error) {
		collections[user], err = g.use(ctx, user, by)
		return err
	})
	if err != nil {
		return nil, err
	}
	g.collections = slices.Concat(collections...)
	admin := grower{server.address, g.admin, nil}
	for n := 0; n < o.grown; n += 10 {
		if err := admin.run(ctx, "feature-thing", object{"id": strconv.FormatInt(g.things[n], 10)}, nil); err != nil {
			return nil, err
		}
	}
	if g.pending, err = g.uploads(ctx, server.address, pendingUploads*3); err != nil {
		return nil, err
	}
	return g, awaitPreviews(ctx, o, address)
}

// together runs work for all users, of whom some work at the same time.
func (g *grown) together(server *process, work func(user int, by grower) error) error {
	var group errgroup.Group
	group.SetLimit(6)
	for user, token := range g.tokens {
		group.Go(func() error {
			return work(user, grower{server.address, token, rand.New(rand.NewPCG(uint64(user), 1))})
		})
	}
	return group.Wait()
}

// thingNames returns the names of the things of the source tables.
func thingNames() ([]string, error) {
	file, err := os.Open(filepath.Join(tablesDir, "things.csv"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, err
	}
	column := slices.Index(rows[0], "name")
	var names []string
	for _, row := range rows[1:] {
		names = append(names, row[column])
	}
	return names, nil
}

// addThing creates and publishes thing number n with three models and, for every second thing, a
// picture. It returns the IDs of the thing and its models.
func (g grower) addThing(ctx context.Context, name string, n int) (thing int64, models []int64, err error) {
	var finalized []object
	for i := range 4 {
		if i == 3 && n%2 == 0 {
			break
		}
		fileName, content, err := someFile(n, i)
		if err != nil {
			return 0, nil, err
		}
		id, err := g.upload(ctx, fileName, content)
		if err != nil {
			return 0, nil, err
		}
		finalized = append(finalized, object{"id": strconv.FormatInt(id, 10)})
		if i < 3 {
			models = append(models, id)
		}
	}
	var created struct {
		CreateThing struct {
			Thing struct {
				ID int64 `json:",string"`
			}
		}
	}
	words := strings.Fields(name)
	tags := append([]string{"print in place", []string{"gear", "box", "holder", "toy", "tool"}[n%5]}, words[:min(3, len(words))]...)
	err = g.run(ctx, "create-thing", object{
		"name": name, "license": []string{"CC", "CC_SA", "GPL"}[n%3], "category": []string{"tools", "toys-and-games", "gadgets", "art", "household"}[n%5],
		"description": description[:40+n%300], "instructions": description[:n%100], "tags": tags, "files": finalized,
	}, &created)
	if err != nil {
		return 0, nil, err
	}
	thing = created.CreateThing.Thing.ID
	return thing, models, g.run(ctx, "publish-thing", object{"id": strconv.FormatInt(thing, 10)}, nil)
}

// upload uploads a file by REST.
func (g grower) upload(ctx context.Context, name string, content []byte) (int64, error) {
	var uploaded struct{ ID int64 }
	err := postForm("/files/0/uploadFile", nil, "file", name, content).by(g.token).into(ctx, g.address, &uploaded)
	return uploaded.ID, err
}

// someFile returns file number i of thing number n. The first two models and the picture are not in
// any other thing.
func someFile(n, i int) (name string, content []byte, err error) {
	name = []string{"numpystl_HalfDonut_bin.stl", "assimp_cube_with_vertexcolors.obj", "happly_platonic_shelf_ascii.ply", "lib3mf_thumbnail.png"}[i]
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

// use lets a user like, comment on, make, collect and download things of others, and follow others.
func (g *grown) use(ctx context.Context, user int, by grower) (collections []string, err error) {
	for _, other := range []int{1, 2, 5} {
		if err := by.run(ctx, "follow-user", object{"username": g.names[(user+other)%growers]}, nil); err != nil {
			return nil, err
		}
	}
	for i := range collectionsEach {
		var created struct {
			CreateCollection struct{ Collection struct{ ID string } }
		}
		if err := by.run(ctx, "create-collection", object{"name": fmt.Sprint("To print ", i), "description": description[:50]}, &created); err != nil {
			return nil, err
		}
		collections = append(collections, created.CreateCollection.Collection.ID)
	}
	for n, id := range g.things {
		thing := strconv.FormatInt(id, 10)
		target := object{"type": "THING", "id": thing}
		var commented struct {
			CreateComment struct{ Comment struct{ ID string } }
		}
		for _, act := range []struct {
			one      int // in this many things
			document string
			input    func() object
			into     any
		}{
			{3, "like-thing", func() object { return object{"id": thing} }, nil},
			{4, "create-comment", func() object { return object{"target": target, "body": description[:20+by.IntN(200)]} }, &commented},
			{30, "create-make", func() object { return object{"thingId": thing, "description": description[:by.IntN(100)]} }, nil},
			{8, "add-to-collection", func() object {
				return object{"thingId": thing, "collectionId": collections[by.IntN(collectionsEach)]}
			}, nil},
		} {
			if g.creators[n] == user || by.IntN(act.one) > 0 {
				continue
			}
			if err := by.run(ctx, act.document, act.input(), act.into); err != nil {
				return nil, err
			}
		}
		if parent := commented.CreateComment.Comment.ID; parent != "" && by.IntN(2) == 0 {
			if err := by.run(ctx, "create-comment", object{"parentId": parent, "body": "Thank you!"}, nil); err != nil {
				return nil, err
			}
		}
		if by.IntN(4) == 0 {
			if _, err := get(fmt.Sprintf("/files/%d/download", g.files[3*n])).by(by.token).send(ctx, by.address); err != nil {
				return nil, err
			}
		}
	}
	return collections, nil
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
			token := g.tokens[g.creators[i%len(g.things)]]
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
	if err := post(fmt.Sprintf("/things/%d/files", thing), object{"filename": "part.stl"}).by(token).into(ctx, address, &staged); err != nil {
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
	if err != nil && got.Status != http.StatusNoContent && got.Status != http.StatusSeeOther && got.Status != http.StatusCreated {
		return p, err
	}
	return p, nil
}

// awaitPreviews waits until the server has made all previews.
func awaitPreviews(ctx context.Context, o options, address string) error {
	for left := 1; left > 0; {
		if err := query(ctx, address, "SELECT count(*) FROM previews WHERE state IN ('waiting', 'running')", &left); err != nil {
			return err
		}
		time.Sleep(200 * time.Millisecond)
	}
	return nil
}
