package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
	"github.com/meshyard/meshyard/models"
)

const (
	honestFiles     = 10     // each of a different owner
	honestTriangles = 10_000 // in each file
	honestSeconds   = 10
)

// queueBombs lets one owner finalize all hostile models of the tests, and then measures how long
// the ordinary files of other owners wait for their previews.
func queueBombs(ctx context.Context, o options) (err error) {
	address, a, _, closeAll, err := newDatabaseWithCatalogue(ctx, o, sqlite)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	attacker, err := newMaker(ctx, a, "attacker")
	if err != nil {
		return err
	}
	for _, bomb := range meshtest.Bombs() {
		extension := bomb.Subject
		if extension == "image" {
			extension = "png"
		}
		if err := attacker.upload(ctx, a, "bomb."+extension, bomb.Content()); err != nil {
			return err
		}
	}
	var honest []*maker
	for i := range honestFiles {
		ball := meshtest.SphereSTL(honestTriangles)
		ball[0] = byte(i) // makes each file different
		m, err := newMaker(ctx, a, fmt.Sprint("honest", i))
		if err != nil {
			return err
		}
		if err := m.upload(ctx, a, "ball.stl", ball); err != nil {
			return err
		}
		honest = append(honest, m)
	}
	server, err := startServer(ctx, o, "--database-url", address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	if err := server.finalize(ctx, attacker.token, attacker.thing, attacker.files...); err != nil {
		return err
	}
	time.Sleep(2 * time.Second) // let the server start to process the first hostile files
	began := time.Now()
	for _, m := range honest {
		if err := server.finalize(ctx, m.token, m.thing, m.files...); err != nil {
			return err
		}
	}
	var waited series
	for _, m := range honest {
		if err := server.awaitProcessed(ctx, m.token, m.files[0], time.Minute); err != nil {
			return err
		}
		waited = append(waited, time.Since(began).Seconds())
	}
	left := 0
	for _, id := range attacker.files {
		if ended, err := server.processed(ctx, attacker.token, id); err != nil {
			return err
		} else if !ended {
			left++
		}
	}
	t := newTable("%d files of %d triangles by as many owners, finalized after %d hostile files of another owner", honestFiles, honestTriangles, len(attacker.files))
	t.row("hostile files not processed when the last of them was ready", "%.0f", series{float64(left)})
	t.row("until the first was ready, s", "%.1f", waited[:1])
	t.atMost("until the last was ready, s", "%.1f", waited[honestFiles-1:], honestSeconds)
	t.print()
	return nil
}

// maker is a user with a thing and pending uploads.
type maker struct {
	caller auth.Caller
	token  string
	thing  int64
	files  []int64
}

func newMaker(ctx context.Context, a *server.Server, name string) (*maker, error) {
	user, err := a.Store.Admin().CreateUser(ctx, name, false)
	if err != nil {
		return nil, err
	}
	m := &maker{caller: auth.Caller{UserID: user.ID, Scopes: auth.Scopes{auth.Read, auth.Write}}}
	if m.token, err = a.Store.Admin().CreateToken(ctx, name, "bench", m.caller.Scopes, 0); err != nil {
		return nil, err
	}
	thing, err := a.Store.CreateThing(ctx, m.caller, models.NewThing{Name: "Models", License: models.CC, Category: "other"})
	if err != nil {
		return nil, err
	}
	m.thing = thing.ID
	return m, nil
}

// upload creates a pending upload.
func (m *maker) upload(ctx context.Context, a *server.Server, name string, content []byte) error {
	f, err := a.Store.Upload(ctx, m.caller, models.NewUpload{Name: name, Bytes: bytes.NewReader(content)})
	if err != nil {
		return fmt.Errorf("upload %s: %w", name, err)
	}
	m.files = append(m.files, f.ID)
	return nil
}

// processed reports whether the processing of a file has ended, successfully or with an error.
func (p *process) processed(ctx context.Context, token string, file int64) (bool, error) {
	_, body, err := postDocument(fmt.Sprintf(`{ file(id: %d) { processing { state } } }`, file), nil).send(ctx, p.address, token)
	if err != nil {
		return false, err
	}
	return bytes.Contains(body, []byte("DONE")) || bytes.Contains(body, []byte("FAILED")) || bytes.Contains(body, []byte("NOT_APPLICABLE")), nil
}

// awaitProcessed waits until the processing of a file has ended. It returns an error after limit.
func (p *process) awaitProcessed(ctx context.Context, token string, file int64, limit time.Duration) error {
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if ended, err := p.processed(ctx, token, file); ended || err != nil {
			return err
		}
		if time.Since(began) > limit {
			return fmt.Errorf("file %d is not processed after %s", file, limit)
		}
	}
}
