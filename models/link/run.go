package link

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/layout"
	"github.com/meshyard/meshyard/internal/outage"
	"github.com/meshyard/meshyard/internal/remote"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/importer"
)

const (
	beatEvery = time.Second
	// leaseExpiry is the time without a sign of life after which another process takes over.
	leaseExpiry = 15 * time.Second
	// longest is the maximum time of an import.
	longest = time.Hour
	// maxAttempts is how often an import is started. If the process dies as often, it has failed.
	maxAttempts = 5
)

// Wake returns a channel that receives a value when an import was started in this process.
func (s *Store) Wake() <-chan struct{} { return s.wake }

// Work runs the import that has waited longest, if there is one. It reports whether there was one.
// If ctx ends, the import waits for another call.
func (s *Store) Work(ctx context.Context) (worked bool, err error) {
	i, err := s.claim(ctx, 0)
	if i == nil || err != nil {
		return false, err
	}
	return true, s.run(ctx, i, nil)
}

// Run runs an import, or waits until another process has run it. It calls progress, unless it is
// nil, with its state about every second.
func (s *Store) Run(ctx context.Context, caller auth.Caller, id int64, progress func(*Import)) (*Import, error) {
	for {
		i, err := s.claim(ctx, id)
		if err == nil && i != nil {
			err = s.run(ctx, i, progress)
		}
		if err != nil {
			return nil, err
		}
		if i, err = s.Get(ctx, caller, id); err != nil || i.FinishedAt != nil {
			return i, err
		}
		select {
		case <-ctx.Done():
			return i, ctx.Err()
		case <-time.After(beatEvery):
		}
		if progress != nil {
			progress(i)
		}
	}
}

// claim makes this process the one that runs an import: the one with an ID or, if it is 0, the
// oldest one that waits. It returns nil if there is none.
func (s *Store) claim(ctx context.Context, id int64) (*Import, error) {
	at := models.Now()
	due := s.core.DB.Write.NewSelect().Model((*Import)(nil)).
		Where("li.finished_at IS NULL AND (li.runner = '' OR li.beat_at < ?)", at.Add(-leaseExpiry))
	if id != 0 {
		due = due.Where("li.id = ?", id)
	}
	i := new(Import)
	err := due.Order("li.attempts", "li.id").Limit(1).Scan(ctx, i)
	if err != nil {
		return nil, models.IgnoreNoRows(err)
	}
	before, token := i.Runner, rand.Text()
	changed, err := s.core.DB.Write.NewUpdate().Model(i).Set("runner = ?, beat_at = ?, state = ?, attempts = attempts + 1",
		token, at, Running).
		Where("id = ? AND runner = ? AND finished_at IS NULL", i.ID, before).Exec(ctx)
	if err != nil {
		return nil, err
	}
	if n, err := changed.RowsAffected(); n == 0 || err != nil {
		return nil, err // another process was faster
	}
	i.Runner, i.State, i.Attempts = token, Running, i.Attempts+1
	return i, nil
}

// progress is what an import has done.
type progress struct{ filesTotal, filesDone, bytesTotal, bytesDone atomic.Int64 }

// keep stores the progress until ctx ends. It calls lost if the import was canceled, or if another
// process has taken over.
func (s *Store) keep(ctx context.Context, i *Import, p *progress, shown func(*Import), lost func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(beatEvery):
		}
		if changed, err := p.set(s.core.DB.Write.NewUpdate().Model((*Import)(nil))).Set("beat_at = ?", models.Now()).
			Where("id = ? AND runner = ?", i.ID, i.Runner).Exec(ctx); err == nil {
			if n, err := changed.RowsAffected(); err == nil && n == 0 {
				lost()
				return
			}
		}
		if shown != nil {
			shown(&Import{ID: i.ID, URL: i.URL, State: Running, FilesTotal: p.filesTotal.Load(), FilesDone: p.filesDone.Load(),
				BytesTotal: p.bytesTotal.Load(), BytesDone: p.bytesDone.Load()})
		}
	}
}

func (p *progress) set(q *bun.UpdateQuery) *bun.UpdateQuery {
	return q.Set("files_total = ?, files_done = ?, bytes_total = ?, bytes_done = ?", p.filesTotal.Load(),
		p.filesDone.Load(), p.bytesTotal.Load(), p.bytesDone.Load())
}

// run runs a claimed import and stores its result. The error is one of this server.
func (s *Store) run(ctx context.Context, i *Import, shown func(*Import)) error {
	p := new(progress)
	working, cancel := context.WithTimeout(ctx, longest)
	beating, stop := context.WithCancel(working)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.keep(beating, i, p, shown, cancel)
	}()
	skipped, err := s.importAll(working, i, p)
	stop()
	<-ended
	cancel()
	result := p.set(s.core.DB.Write.NewUpdate().Model((*Import)(nil))).Where("id = ? AND runner = ?", i.ID, i.Runner)
	switch {
	case ctx.Err() != nil: // it continues in another process
		result = result.Set("runner = '', state = ?, attempts = attempts - 1", Waiting)
	case outage.Of(err) != nil && i.Attempts < maxAttempts:
		result = result.Set("runner = '', state = ?", Waiting)
	default:
		state, message := Done, ""
		if err != nil {
			state, message = Failed, err.Error()
			if models.CodeOf(err) == models.Internal {
				message = "this server could not import it: its log has the reason"
			}
		}
		result = result.Set("state = ?, error = ?, token = '', runner = '', finished_at = ?", state, message, models.Now()).
			Set("skipped = ?", skipped)
	}
	_, stored := result.Exec(context.WithoutCancel(ctx))
	if models.CodeOf(err) == models.Internal && ctx.Err() == nil {
		return errors.Join(err, stored)
	}
	return stored
}

// importAll downloads and imports the things at a URL. It returns what it has skipped.
func (s *Store) importAll(ctx context.Context, i *Import, p *progress) (all []Skip, err error) {
	all = []Skip{}
	if i.Attempts > maxAttempts {
		return all, models.Fail(models.Conflict, "the import was interrupted %d times", maxAttempts)
	}
	users, err := models.ByIDs[models.User](ctx, s.core, auth.Caller{}, models.AllUserFields, []int64{i.UserID})
	if err != nil {
		return all, err
	}
	user := users[i.UserID]
	if user == nil || user.IsDeleted() || user.CheckActive() != nil {
		return all, models.Fail(models.Forbidden, "the account of the user is suspended or deleted")
	}
	caller := auth.Caller{UserID: user.ID, Role: user.Role(), Scopes: auth.Scopes{auth.Read, auth.Write}}
	source, err := s.open(ctx, Source{i.URL, i.Token}, 0)
	if err != nil {
		return all, err
	}
	defer source.Close()
	found := source.Found
	all = append(all, skips(found)...)
	if err := download(ctx, source, p); err != nil {
		return all, explain(err)
	}
	categories, err := models.CategoriesByName(ctx, s.core.DB.Read)
	if err != nil {
		return all, err
	}
	im := s.importer.Found(caller, importer.FoundOptions{Category: i.Category})
	var failures []string
	for _, t := range found.Things {
		if !hasCategory(categories, t.Category) {
			t.Category = ""
		}
		earlier, err := s.earlier(ctx, i.UserID, i.URL, t.Source)
		if err != nil {
			return all, err
		}
		done, err := im.Thing(ctx, importer.FoundThing{Thing: t, Content: source.Content, Skipped: found.Skipped,
			Earlier: earlier})
		if outage.Of(err) != nil || ctx.Err() != nil {
			return all, errors.Join(err, ctx.Err())
		}
		if done.ThingID != 0 {
			row := &linkThing{ThingID: done.ThingID, Source: sourceOf(i.UserID, i.URL, t.Source), ImportID: i.ID}
			_, err := s.core.DB.Write.NewInsert().Model(row).On("CONFLICT (thing_id) DO UPDATE").
				Set("source = EXCLUDED.source, import_id = EXCLUDED.import_id").Exec(ctx)
			if err != nil {
				return all, err
			}
		}
		for _, note := range done.Notes {
			all = append(all, Skip{t.Name, note})
		}
		if err != nil {
			failures = append(failures, fmt.Sprintf("%s: %v", t.Name, err))
		}
	}
	if len(failures) > 0 {
		return all, models.Fail(models.BadInput, "%d of %d things were not imported: %.1000s", len(failures),
			len(found.Things), strings.Join(failures, "; "))
	}
	return all, nil
}

// hasCategory reports whether there is a category with a name or slug.
func hasCategory(known map[string]int64, name string) bool {
	_, ok := known[strings.ToLower(name)]
	return ok
}

// download downloads the files of all things.
func download(ctx context.Context, source *remote.Source, p *progress) error {
	var files []layout.File
	for _, t := range source.Found.Things {
		files = append(files, t.Files...)
	}
	p.filesTotal.Store(int64(len(files)))
	for _, f := range files {
		p.bytesTotal.Add(f.Size)
	}
	for _, f := range files {
		if err := source.Download(ctx, f.Source); err != nil {
			return err
		}
		p.filesDone.Add(1)
		p.bytesDone.Add(f.Size)
	}
	return nil
}
