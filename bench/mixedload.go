package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/markdown"
	"github.com/meshyard/meshyard/models"
)

// This file measures a mixed load: lists and searches while things are published and files are
// downloaded, relative to lists and searches alone. What a turn publishes is unpublished before the
// next one, because the searches find it: they would become slower from turn to turn.

const (
	writesPerSecond = 200 // half of them publish, half of them download
	mixedLoadThings = 10_000
)

// writers publish drafts and download files, each at its scheduled time.
type writers struct {
	*sized
	client     http.Client
	user       int64
	drafts     []int64
	public     []int64 // drafts that were published in the last turn
	files      []int64
	published  atomic.Int64
	downloaded atomic.Int64
	withdrawn  int64
	late       atomic.Int64 // writes that started more than a second late
}

func compareMixedLoad(ctx context.Context, o options, e engine) (err error) {
	c, closeAll, err := newSized(ctx, o, e, mixedLoadThings)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	w := &writers{sized: c}
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	w.client.Transport = &http.Transport{MaxIdleConnsPerHost: 64}
	if err := w.prepare(ctx, o); err != nil {
		return err
	}
	if err := w.awaitJobs(ctx); err != nil {
		return err
	}
	kinds := []request{
		{http.MethodGet, "/newest?per_page=30", ""}, {http.MethodGet, "/popular?per_page=30", ""}, graphRequest(nestedDocument, ""),
		{http.MethodGet, "/search/gear?per_page=30", ""}, {http.MethodGet, "/search/fidget+box?sort=newest", ""},
	}
	texts := make([][]byte, len(kinds))
	for i, r := range kinds {
		texts[i] = r.text(c.server.address, c.token)
	}
	readers, err := newLoadGenerator(c.server.address, o.conns, func(int) []byte { return texts[rand.IntN(len(texts))] })
	if err != nil {
		return err
	}
	defer readers.close()
	if _, err := readers.run(ctx, o.round/2); err != nil { // warm-up
		return err
	}
	var medians, p95s, rates [2]series
	for i := range o.pairs {
		for _, side := range inTurns(i, 0, 1) {
			if err := w.withdraw(ctx); err != nil {
				return err
			}
			got, err := w.run(ctx, o, readers, side == 1)
			if err != nil {
				return err
			}
			medians[side] = append(medians[side], got.median.Seconds()*1000)
			p95s[side] = append(p95s[side], got.p95.Seconds()*1000)
			rates[side] = append(rates[side], got.rate)
		}
	}
	t := newTable("lists and searches by %d connections at full rate on %s, with %d writes a second, relative to no writes", o.conns, e, writesPerSecond)
	t.atMost("median latency", "%.2f", medians[1].over(medians[0]), 1.5)
	t.row("95th percentile latency", "%.2f", p95s[1].over(p95s[0]))
	t.row("reads a second without writes", "%.0f", rates[0])
	t.row("reads a second with writes", "%.0f", rates[1])
	wrote := w.published.Load() + w.downloaded.Load()
	t.row("writes a second, fraction of the target", "%.2f", series{float64(wrote) / (float64(o.pairs) * o.round.Seconds() * writesPerSecond)})
	t.row("writes that began a second late or more", "%.0f", series{float64(w.late.Load())})
	lost, err := w.lost(ctx)
	if err != nil {
		return err
	}
	t.atMost("counts lost", "%.0f", series{lost}, 0)
	t.print()
	return nil
}

// prepare creates the drafts that will be published, each with a file, and publishes 50 things
// whose files are downloaded.
func (w *writers) prepare(ctx context.Context, o options) error {
	user, err := w.app.Store.Admin().CreateUser(ctx, "writer", false)
	if err != nil {
		return err
	}
	w.user = user.ID
	if w.token, err = w.app.Store.Admin().CreateToken(ctx, "writer", "bench", auth.Scopes{auth.Read, auth.Write}, 0); err != nil {
		return err
	}
	caller := w.caller()
	drafts := int(float64(o.pairs)*o.round.Seconds()*writesPerSecond/2) + 100
	for i := range drafts {
		f, err := w.app.Store.Upload(ctx, caller, models.NewUpload{Name: "gear.stl", Bytes: strings.NewReader(fmt.Sprint("solid ", i))})
		if err != nil {
			return err
		}
		th, err := w.app.Store.CreateThing(ctx, caller, models.NewThing{
			Name: fmt.Sprint("Gear ", i), License: models.CC, Category: "other", Description: "A gear.", Tags: []string{"gear"}, Files: []models.FinalizeFile{{ID: f.ID}},
		})
		if err != nil {
			return err
		}
		if w.files = append(w.files, f.ID); len(w.files) <= 50 {
			if _, err := w.app.Store.PublishThing(ctx, caller, th.ID, models.Published); err != nil {
				return err
			}
			w.published.Add(1)
			continue
		}
		w.drafts = append(w.drafts, th.ID)
	}
	w.files = w.files[:50]
	w.published.Store(0)
	return nil
}

// awaitJobs waits until the background jobs of the server have created the previews of the files
// and the HTML of the descriptions.
func (w *writers) awaitJobs(ctx context.Context) error {
	for left := 1; left > 0; {
		err := w.db.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM previews WHERE state IN ('waiting', 'running')) + (SELECT count(*) FROM things WHERE html_version < $1)", markdown.Version).Scan(&left)
		if err != nil {
			return err
		}
		time.Sleep(200 * time.Millisecond)
	}
	return nil
}

// run runs one turn of the readers, with or without writers.
func (w *writers) run(ctx context.Context, o options, readers *loadGenerator, writing bool) (got turn, err error) {
	group, ctx := errgroup.WithContext(ctx)
	if writing {
		group.Go(func() error { return w.write(ctx, o.round) })
	}
	group.Go(func() (err error) {
		got, err = readers.run(ctx, o.round)
		return err
	})
	return got, group.Wait()
}

// withdraw unpublishes what the last turn published.
func (w *writers) withdraw(ctx context.Context) error {
	for _, id := range w.public {
		if _, err := w.app.Store.UnpublishThing(ctx, w.caller(), id); err != nil {
			return err
		}
		w.withdrawn++
	}
	w.public = nil
	return nil
}

func (w *writers) caller() auth.Caller {
	return auth.Caller{UserID: w.user, Scopes: auth.Scopes{auth.Read, auth.Write}}
}

// write sends each write at its scheduled time, even if earlier writes have no response yet, with
// up to 64 writes at once.
func (w *writers) write(ctx context.Context, long time.Duration) error {
	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(64)
	for i := range int(long.Seconds() * writesPerSecond) {
		at := began.Add(time.Duration(i) * time.Second / writesPerSecond)
		time.Sleep(time.Until(at))
		method, path, want, count := http.MethodGet, fmt.Sprintf("/files/%d/download", w.files[rand.IntN(len(w.files))]), http.StatusFound, &w.downloaded
		if i%2 == 0 && len(w.drafts) > 0 {
			method, path, want, count = http.MethodPost, fmt.Sprintf("/things/%d/publish", w.drafts[0]), http.StatusOK, &w.published
			w.drafts, w.public = w.drafts[1:], append(w.public, w.drafts[0])
		}
		group.Go(func() error {
			if time.Since(at) > time.Second {
				w.late.Add(1)
			}
			r, err := http.NewRequestWithContext(ctx, method, "http://"+w.server.address+path, nil)
			if err != nil {
				return err
			}
			r.Header.Set("Authorization", "Bearer "+w.token)
			response, err := w.client.Do(r)
			if err != nil {
				return err
			}
			defer response.Body.Close()
			if body, _ := io.ReadAll(response.Body); response.StatusCode != want {
				return fmt.Errorf("%s %s: %s: %.300s", method, path, response.Status, body)
			}
			count.Add(1)
			return nil
		})
	}
	return group.Wait()
}

// lost returns the sum of the differences between the displayed counts and the successful writes.
func (w *writers) lost(ctx context.Context) (float64, error) {
	_, err1 := w.app.Store.FoldDownloads(ctx)
	_, err2 := w.app.Store.FoldCounts(ctx)
	if err := errors.Join(err1, err2); err != nil {
		return 0, err
	}
	lost, public := 0.0, 50+w.published.Load()-w.withdrawn
	for query, want := range map[string]int64{
		"SELECT coalesce(sum(download_count), 0) FROM files WHERE owner_id = $1":  w.downloaded.Load(),
		"SELECT coalesce(sum(download_count), 0) FROM things WHERE owner_id = $1": w.downloaded.Load(),
		"SELECT count(*) FROM things WHERE owner_id = $1 AND state = 'published'": public,
		"SELECT count(*) FROM downloads WHERE user_id = $1":                       w.downloaded.Load(),
		"SELECT thing_count FROM users WHERE id = $1":                             public,
	} {
		var got int64
		if err := w.db.QueryRowContext(ctx, query, w.user).Scan(&got); err != nil {
			return 0, fmt.Errorf("%s: %w", query, err)
		}
		lost += max(float64(want-got), float64(got-want))
	}
	return lost, nil
}
