package maintenance_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
	"github.com/meshyard/meshyard/models/collections"
	"github.com/meshyard/meshyard/models/comments"
	"github.com/meshyard/meshyard/models/files"
	"github.com/meshyard/meshyard/models/makes"
	"github.com/meshyard/meshyard/models/moderation"
	"github.com/meshyard/meshyard/models/uploads"
)

var randomSeed = flag.Uint64("seed", 1, "seed of TestRandomOperationsTogether")

// randomWorld holds what random operations choose from. Objects stay in the lists after they are
// deleted.
type randomWorld struct {
	*catalogue.Catalogue
	admin auth.Caller
	users []auth.Caller

	mu          sync.Mutex
	things      []int64
	makes       []int64
	comments    []int64
	collections []int64
	files       []int64
	names       int
	deleted     []int64 // users
}

// randomizer is one of the concurrent sequences of operations.
type randomizer struct {
	*randomWorld
	*rand.Rand
	ctx context.Context
}

// add adds an object to one of the lists.
func (w *randomWorld) add(to *[]int64, id int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*to = append(*to, id)
}

// one returns a random object, one of the latest more often. It returns 0 if there is none.
func (r *randomizer) one(of *[]int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(*of) == 0 {
		return 0
	}
	all := *of
	if r.IntN(3) > 0 {
		all = all[max(0, len(all)-4):]
	}
	return all[r.IntN(len(all))]
}

func (r *randomizer) user() auth.Caller { return r.users[r.IntN(len(r.users))] }

// word returns a word for a text that is searched.
func (r *randomizer) word() string {
	return []string{"gear", "vase", "dragon", "bracket", "knob", "lamp"}[r.IntN(6)]
}

func (r *randomizer) name() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names++
	return fmt.Sprint("name", r.names)
}

// target returns a random thing or make.
func (r *randomizer) target() models.Target {
	if r.IntN(3) == 0 {
		return models.Target{Type: models.OnMake, ID: r.one(&r.makes)}
	}
	return models.Target{Type: models.OnThing, ID: r.one(&r.things)}
}

// owner returns the owner of an object as a caller, or a random user if it does not exist.
func (r *randomizer) owner(table string, id int64) auth.Caller {
	var owner int64
	if err := r.DB.Read.NewSelect().Table(table).Column("owner_id").Where("id = ?", id).Scan(r.ctx, &owner); err != nil {
		return r.user()
	}
	return auth.Caller{UserID: owner}
}

func (r *randomizer) thing() (int64, auth.Caller) {
	id := r.one(&r.things)
	return id, r.owner("things", id)
}

func (r *randomizer) collection() (int64, auth.Caller) {
	id := r.one(&r.collections)
	return id, r.owner("collections", id)
}

func (r *randomizer) upload(by auth.Caller) (int64, error) {
	f, err := r.Uploads.Upload(r.ctx, by,
		uploads.NewUpload{Name: "a.stl", Bytes: strings.NewReader(fmt.Sprint("solid ", r.IntN(4)))})
	if err != nil {
		return 0, err
	}
	r.add(&r.files, f.ID)
	return f.ID, nil
}

// randomOperations are the operations, by name. Each chooses its objects and its caller.
var randomOperations = map[string]func(r *randomizer) error{
	"create a thing": func(r *randomizer) error {
		by := r.user()
		file, err := r.upload(by)
		if err != nil {
			return err
		}
		th, err := r.CreateThing(r.ctx, by, models.NewThing{
			Name: r.word(), Description: r.word(), License: models.CC, Category: "Art", Tags: []string{r.word(), r.word()},
			Files: []models.FinalizeFile{{ID: file}},
		})
		if err != nil {
			return err
		}
		r.add(&r.things, th.ID)
		_, err = r.PublishThing(r.ctx, by, th.ID, models.Published)
		return err
	},
	"update a thing": func(r *randomizer) error {
		id, by := r.thing()
		c := models.ThingChange{ID: id, Name: new(r.word())}
		if r.IntN(2) == 0 {
			c.Tags = []string{r.word()}
		}
		if r.IntN(2) == 0 {
			c.Category = new([]string{"Art", "Tools", "Dice"}[r.IntN(3)])
		}
		if r.IntN(2) == 0 {
			c.AncestorIDs = []int64{r.one(&r.things)}
		}
		_, err := r.UpdateThing(r.ctx, by, c)
		return err
	},
	"publish a thing": func(r *randomizer) error {
		id, by := r.thing()
		_, err := r.PublishThing(r.ctx, by, id, []models.PublicationState{models.Published, models.Published,
			models.Unlisted}[r.IntN(3)])
		return err
	},
	"unpublish a thing": func(r *randomizer) error {
		id, by := r.thing()
		_, err := r.UnpublishThing(r.ctx, by, id)
		return err
	},
	"feature a thing": func(r *randomizer) error {
		_, err := r.Moderation.FeatureThing(r.ctx, r.admin, r.one(&r.things), r.IntN(2) == 0)
		return err
	},
	"take down a thing": func(r *randomizer) error {
		_, err := r.Moderation.TakeDownThing(r.ctx, r.admin, r.one(&r.things), "Because.")
		return err
	},
	"restore a thing": func(r *randomizer) error {
		_, err := r.Moderation.RestoreThing(r.ctx, r.admin, r.one(&r.things), "Because.")
		return err
	},
	"delete a thing": func(r *randomizer) error {
		id, by := r.thing()
		_, err := r.DeleteThing(r.ctx, []auth.Caller{by, by, r.admin}[r.IntN(3)], id, "Because.")
		return err
	},
	"create a make": func(r *randomizer) error {
		m, picture, err := r.Makes.CreateMake(r.ctx, r.user(), makes.NewMake{ThingID: r.one(&r.things),
			PictureName: []*string{nil, new("a.png")}[r.IntN(2)]})
		if err != nil {
			return err
		}
		r.add(&r.makes, m.ID)
		if picture == nil {
			return nil
		}
		r.add(&r.files, picture.FileID)
		if err := r.Uploads.StoreStaged(r.ctx, picture.FileID, 0, 1<<20, bytes.NewReader([]byte("bytes"))); err != nil {
			return err
		}
		_, err = r.FinalizeOne(r.ctx, auth.Caller{UserID: m.OwnerID}, picture.FileID)
		return err
	},
	"update a make": func(r *randomizer) error {
		id := r.one(&r.makes)
		_, err := r.Makes.UpdateMake(r.ctx, r.owner("makes", id), makes.Change{ID: id, Name: new(r.word())})
		return err
	},
	"restore a make": func(r *randomizer) error {
		_, err := r.Moderation.RestoreMake(r.ctx, r.admin, r.one(&r.makes))
		return err
	},
	"delete a make": func(r *randomizer) error {
		id := r.one(&r.makes)
		_, err := r.Makes.DeleteMake(r.ctx, r.owner("makes", id), id, "")
		return err
	},
	"comment": func(r *randomizer) error {
		n := comments.NewComment{Body: "a"}
		if parent := r.one(&r.comments); parent != 0 && r.IntN(2) == 0 {
			n.ParentID = &parent
		} else {
			n.Target = new(r.target())
		}
		c, err := r.Comments.CreateComment(r.ctx, r.user(), n)
		if err == nil {
			r.add(&r.comments, c.ID)
		}
		return err
	},
	"delete a comment": func(r *randomizer) error {
		id := r.one(&r.comments)
		_, err := r.Comments.DeleteComment(r.ctx, r.owner("comments", id), id, "")
		return err
	},
	"report a comment": func(r *randomizer) error {
		_, err := r.Moderation.ReportContent(r.ctx, r.user(),
			moderation.NewReport{NodeID: models.NodeRef{Type: "Comment", ID: r.one(&r.comments)}.NodeID(),
				Reason: moderation.ReportSpam})
		return err
	},
	"report spam": func(r *randomizer) error {
		_, err := r.Moderation.ReportSpam(r.ctx, []auth.Caller{r.user(), r.admin}[r.IntN(2)], r.one(&r.comments))
		return err
	},
	"restore a comment": func(r *randomizer) error {
		_, err := r.Moderation.RestoreComment(r.ctx, r.admin, r.one(&r.comments))
		return err
	},
	"like": func(r *randomizer) error {
		_, err := r.Social.ToggleLike(r.ctx, r.user(), r.target())
		return err
	},
	"watch": func(r *randomizer) error {
		_, err := r.Social.ToggleWatch(r.ctx, r.user(), r.target())
		return err
	},
	"follow": func(r *randomizer) error {
		name, err := r.nameOf(r.user())
		if err != nil {
			return err
		}
		if r.IntN(2) == 0 {
			_, err = r.Social.Follow(r.ctx, r.user(), name)
		} else {
			_, err = r.Social.Unfollow(r.ctx, r.user(), name)
		}
		return err
	},
	"create a collection": func(r *randomizer) error {
		c, err := r.Collections.CreateCollection(r.ctx, r.user(), collections.NewCollection{Name: r.word()})
		if err == nil {
			r.add(&r.collections, c.ID)
		}
		return err
	},
	"update a collection": func(r *randomizer) error {
		id, by := r.collection()
		_, err := r.Collections.UpdateCollection(r.ctx, by, collections.Change{ID: id, Name: new(r.word()),
			Visibility: new([]models.CollectionVisibility{models.PublicCollection, models.PrivateCollection}[r.IntN(2)])})
		return err
	},
	"collect": func(r *randomizer) error {
		id, by := r.collection()
		_, err := r.Collections.Collect(r.ctx, by, id, r.one(&r.things))
		return err
	},
	"uncollect": func(r *randomizer) error {
		id, by := r.collection()
		_, err := r.Collections.Uncollect(r.ctx, by, id, r.one(&r.things))
		return err
	},
	"move things": func(r *randomizer) error {
		id, by := r.collection()
		ids := slices.Compact(slices.Sorted(slices.Values([]int64{r.one(&r.things), r.one(&r.things)})))
		_, err := r.Collections.MoveThings(r.ctx, by, collections.MoveThings{ThingIDs: ids, CollectionID: id,
			FromOthers: true})
		return err
	},
	"delete a collection": func(r *randomizer) error {
		id, by := r.collection()
		_, err := r.Collections.DeleteCollection(r.ctx, by, id)
		return err
	},
	"add a file": func(r *randomizer) error {
		id, by := r.thing()
		file, err := r.upload(by)
		if err != nil {
			return err
		}
		_, err = r.Finalize(r.ctx, by, []models.FinalizeFile{{ID: file}}, models.Target{Type: models.OnThing, ID: id})
		return err
	},
	"delete a file": func(r *randomizer) error {
		id := r.one(&r.files)
		_, err := r.Files.DeleteFile(r.ctx, r.owner("files", id), files.FileDeletion{ID: id, AllowNoModel: true})
		return err
	},
	"download": func(r *randomizer) error {
		_, _, err := r.Activity.RecordDownload(r.ctx, r.user(), r.one(&r.files))
		return err
	},
	"read notifications": func(r *randomizer) error {
		_, err := r.Social.MarkNotificationsRead(r.ctx, r.user(),
			nil)
		return err
	},
	"rename": func(r *randomizer) error {
		name, err := r.nameOf(r.user())
		if err != nil {
			return err
		}
		_, err = r.Account.Admin().RenameUser(r.ctx, name, r.name())
		return err
	},
	"delete an account": func(r *randomizer) error {
		if r.IntN(3) > 0 {
			return nil
		}
		by := r.users[len(r.users)-1-r.IntN(2)]
		id, err := r.Account.DeleteAccount(r.ctx, by, "me", "")
		if err != nil {
			return err
		}
		r.add(&r.deleted, id)
		return r.Account.PurgeAccount(r.ctx, id)
	},
	"fold": func(r *randomizer) error {
		_, err := r.FoldCounts(r.ctx)
		if err == nil {
			_, err = r.Activity.FoldDownloads(r.ctx)
		}
		if err == nil {
			_, err = r.Maintenance.RankThings(r.ctx)
		}
		return err
	},
	"recount": func(r *randomizer) error {
		if changed, err := r.Maintenance.Recount(r.ctx); err != nil || changed > 0 {
			return fmt.Errorf("%d counts were wrong (%w)", changed, err)
		}
		return nil
	},
	"view": func(r *randomizer) error {
		r.Activity.NoteView(r.user(), &models.Thing{ID: r.one(&r.things), State: models.Published}, "")
		return r.Activity.SaveActivity(r.ctx)
	},
	"collect garbage": func(r *randomizer) error {
		// Without the grace period that the collector has in practice, it must spare objects that are
		// being promoted.
		return r.Maintenance.EachUnreferenced(r.ctx, bucket.ContentPrefix, bucket.ContentPrefix, time.Now(),
			func(o bucket.Object) error {
				_, err := r.Maintenance.CollectContent(r.ctx, o)
				return err
			})
	},
	"remove unused tags": func(r *randomizer) error { return r.Maintenance.RemoveUnusedTags(r.ctx) },
}

// nameOf returns the current name of a user.
func (r *randomizer) nameOf(of auth.Caller) (string, error) {
	u, err := r.User(r.ctx, of, models.AllUserFields, "me")
	if err != nil {
		return "", err
	}
	return u.Username, nil
}

// TestRandomOperationsTogether runs random operations concurrently. No operation may fail with an
// internal error. Afterwards, all counts and the popularity of all things must be those that the
// rows give, and the search documents those that the texts give. No row may refer to a missing
// object, and no object may be in the bucket without a row.
func TestRandomOperationsTogether(t *testing.T) {
	const sequences, operations = 6, 40
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		u, err := s.Admin().CreateUser(ctx, "admin", true)
		if err != nil {
			t.Fatal(err)
		}
		w := &randomWorld{Catalogue: s, admin: auth.Caller{UserID: u.ID, Role: auth.Administrator,
			Scopes: auth.Scopes{auth.Read, auth.Write, auth.Admin}}, users: []auth.Caller{ada}}
		for _, name := range []string{"bob", "cyd", "dan", "eve"} {
			w.users = append(w.users, cataloguetest.NewUser(t, s, name))
		}
		for range 5 {
			thing, file := cataloguetest.Published(t, s, w.users[len(w.things)%5])
			w.things, w.files = append(w.things, thing.ID), append(w.files, file.ID)
		}
		// Deletions are rarer, so that objects exist for a while.
		var names []string
		for name := range randomOperations {
			names = append(names, name)
			if !strings.HasPrefix(name, "delete") {
				names = append(names, name)
			}
			switch name {
			case "create a thing", "create a make", "create a collection", "comment":
				names = append(names, name, name)
			}
		}
		slices.Sort(names)
		var all sync.WaitGroup
		for i := range sequences {
			all.Go(func() {
				r := &randomizer{randomWorld: w, Rand: rand.New(rand.NewPCG(*randomSeed, uint64(i))), ctx: ctx}
				for range operations {
					name := names[r.IntN(len(names))]
					if err := randomOperations[name](r); err != nil && models.CodeOf(err) == models.Internal {
						t.Errorf("%s: %v", name, err)
					}
				}
			})
		}
		all.Wait()
		w.settle(t)
		w.checkCounts(t)
		w.checkDocuments(t)
		w.checkReferences(t)
	})
}

// settle runs the jobs that follow the operations.
func (w *randomWorld) settle(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	for _, id := range w.deleted {
		if err := w.Account.PurgeAccount(ctx, id); err != nil {
			t.Error(err)
		}
	}
	if _, err := w.FoldCounts(ctx); err != nil {
		t.Error(err)
	}
	if _, err := w.Activity.FoldDownloads(ctx); err != nil {
		t.Error(err)
	}
	for ranked := 1; ranked > 0; {
		var err error
		if ranked, err = w.Maintenance.RankThings(ctx); err != nil {
			t.Error(err)
		}
	}
	if _, err := w.Maintenance.CollectGarbage(ctx, 0, false); err != nil {
		t.Error(err)
	}
}

// checkCounts checks that all counts, and the popularity of all things, are those of the rows.
func (w *randomWorld) checkCounts(t *testing.T) {
	t.Helper()
	popularity := func() (all string) {
		if err := w.DB.Read.NewRaw("SELECT string_agg(id || ':' || popularity, ' ' ORDER BY id) FROM things").
			Scan(t.Context(), &all); err != nil {
			t.Error(err)
		}
		return all
	}
	before := popularity()
	if changed, err := w.Maintenance.Recount(t.Context()); changed != 0 || err != nil {
		t.Errorf("a recount changed %d counts (%v), want 0", changed, err)
	}
	if after := popularity(); after != before {
		t.Errorf("popularity is %q, want %q", before, after)
	}
}

// checkDocuments checks that the search documents are those of the texts.
func (w *randomWorld) checkDocuments(t *testing.T) {
	t.Helper()
	before := w.documents(t)
	err := w.DB.InTx(t.Context(), func(ctx context.Context, tx bun.Tx) error {
		for _, ix := range models.Indexes {
			if _, err := tx.NewRaw("DELETE FROM ? WHERE true", bun.Safe(ix.Noun+"_documents")).Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = w.DB.ReindexAll(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	after := w.documents(t)
	for _, d := range before {
		if !slices.Contains(after, d) {
			t.Errorf("document %q is out of date", d)
		}
	}
	for _, d := range after {
		if !slices.Contains(before, d) {
			t.Errorf("document %q is missing", d)
		}
	}
}

// documents returns all search documents as texts.
func (w *randomWorld) documents(t *testing.T) (all []string) {
	t.Helper()
	for _, ix := range models.Indexes {
		query := "SELECT id || ' ' || words FROM ?0 ORDER BY id"
		if w.DB.Engine == database.SQLite {
			if _, err := w.DB.Write.NewRaw("CREATE VIRTUAL TABLE IF NOT EXISTS temp.?0 USING fts5vocab(main, ?1, instance)",
				bun.Safe(ix.Noun+"_terms"), bun.Safe(ix.Noun+"_documents")).Exec(t.Context()); err != nil {
				t.Fatal(err)
			}
			query = "SELECT doc || ' ' || group_concat(col || ':' || term, ' ' ORDER BY col, term) FROM ?1 GROUP BY doc ORDER BY doc"
		}
		var some []string
		if err := w.DB.Write.NewRaw(query, bun.Safe(ix.Noun+"_documents"), bun.Safe("temp."+ix.Noun+"_terms")).
			Scan(t.Context(), &some); err != nil {
			t.Fatal(err)
		}
		for _, d := range some {
			all = append(all, ix.Noun+" "+d)
		}
	}
	return all
}

// checkReferences checks that no row refers to an object that does not exist any more.
func (w *randomWorld) checkReferences(t *testing.T) {
	t.Helper()
	const missing = "NOT EXISTS (SELECT 1 FROM things AS t WHERE x.target_type = 'thing' AND t.id = x.target_id) AND " +
		"NOT EXISTS (SELECT 1 FROM makes AS m WHERE x.target_type = 'make' AND m.id = x.target_id) AND " +
		"NOT EXISTS (SELECT 1 FROM comments AS c WHERE x.target_type = 'comment' AND c.id = x.target_id AND c.deleted_at IS NULL)"
	// The decision to delete a comment is about the comment, which keeps its place.
	const decided = "(x.decision_id IS NOT NULL AND EXISTS (SELECT 1 FROM comments AS c WHERE x.target_type = 'comment' AND c.id = x.target_id))"
	const ofDeleted = "EXISTS (SELECT 1 FROM users AS u WHERE u.id = x.%s AND u.deleted_at IS NOT NULL)"
	for what, where := range map[string]string{
		"likes of missing objects":                "likes AS x WHERE " + missing,
		"watches of missing objects":              "watches AS x WHERE " + missing,
		"files on missing objects":                "files AS x WHERE x.target_id <> 0 AND " + missing,
		"comments on missing objects":             "comments AS x WHERE " + missing,
		"notifications about missing objects":     "notifications AS x WHERE x.target_type NOT IN ('user', 'file', 'collection') AND " + missing + " AND NOT " + decided,
		"open reports of missing objects":         "reports AS x WHERE x.state = 'open' AND " + missing,
		"reported comments without open reports":  "comments AS x WHERE x.reported_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM reports AS r WHERE r.target_type = 'comment' AND r.target_id = x.id AND r.state = 'open')",
		"comments with another thing than theirs": "comments AS x JOIN makes AS m ON x.target_type = 'make' AND m.id = x.target_id WHERE coalesce(x.thing_id, 0) <> coalesce(m.thing_id, 0)",
		"files with another thing than theirs":    "files AS x JOIN makes AS m ON x.target_type = 'make' AND m.id = x.target_id WHERE x.thing_id <> coalesce(m.thing_id, 0)",
		"deleted comments with a text":            "comments AS x WHERE x.deleted_at IS NOT NULL AND x.body <> ''",
		"published things without a description":  "things AS x WHERE x.state = 'published' AND x.description = ''",
		"featured things that are not published":  "things AS x WHERE x.featured_at IS NOT NULL AND x.state <> 'published'",
		"things of deleted users":                 "things AS x WHERE " + fmt.Sprintf(ofDeleted, "owner_id"),
		"makes of deleted users":                  "makes AS x WHERE " + fmt.Sprintf(ofDeleted, "owner_id"),
		"collections of deleted users":            "collections AS x WHERE " + fmt.Sprintf(ofDeleted, "owner_id"),
		"comments of deleted users": "comments AS x WHERE x.body <> '' AND " +
			fmt.Sprintf(ofDeleted, "owner_id"),
		"files of deleted users":         "files AS x WHERE " + fmt.Sprintf(ofDeleted, "owner_id"),
		"likes of deleted users":         "likes AS x WHERE " + fmt.Sprintf(ofDeleted, "user_id"),
		"watches of deleted users":       "watches AS x WHERE " + fmt.Sprintf(ofDeleted, "user_id"),
		"followers of deleted users":     "follows AS x WHERE " + fmt.Sprintf(ofDeleted, "followed_id"),
		"follows of deleted users":       "follows AS x WHERE " + fmt.Sprintf(ofDeleted, "follower_id"),
		"notifications to deleted users": "notifications AS x WHERE " + fmt.Sprintf(ofDeleted, "user_id"),
	} {
		var n int
		if err := w.DB.Read.NewRaw("SELECT count(*) FROM ?", bun.Safe(where)).Scan(t.Context(), &n); err != nil || n != 0 {
			t.Errorf("%d %s (%v), want 0", n, what, err)
		}
	}
}
