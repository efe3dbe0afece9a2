package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
	"github.com/meshyard/meshyard/internal/preview"
)

const (
	previewTriangles = 10_000
	previewsAlone    = 15  // one after the other
	previewsAtOnce   = 200 // finalized together
	previewWaitMS    = 300
)

// comparePreviews measures the time from the response of finalize to the preview, compared with the
// time that deriving the preview takes alone. Then it measures the latency of other requests while
// two hundred previews are generated.
func comparePreviews(ctx context.Context, o options, e engine) (err error) {
	address, a, _, closeAll, err := newDatabaseWithCatalogue(ctx, o, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	m, err := newMaker(ctx, a, "maker")
	if err != nil {
		return err
	}
	ball := meshtest.SphereSTL(previewTriangles)
	for i := range previewsAlone + previewsAtOnce {
		binary.LittleEndian.PutUint32(ball, uint32(i)) // makes each file different
		if err := m.upload(ctx, a, "ball.stl", ball); err != nil {
			return err
		}
	}
	server, err := startServer(ctx, o, "--database-url", address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()

	var alone, waited series
	put := func(_ preview.Part, write func(io.Writer) error) error { return write(io.Discard) }
	for _, id := range m.files[:previewsAlone] {
		began := time.Now()
		if _, err := preview.Derive(ctx, preview.Source{ReaderAt: bytes.NewReader(ball), Size: int64(len(ball))}, "stl", mesh.DefaultLimits, put, func(string, float64) {}); err != nil {
			return err
		}
		alone = append(alone, time.Since(began).Seconds()*1000)
		took, err := server.finalizeAndWait(ctx, m.token, m.thing, id)
		if err != nil {
			return err
		}
		waited = append(waited, took.Seconds()*1000)
	}
	t := newTable("a preview of %d triangles on %s, on an idle server; %d times", previewTriangles, e, previewsAlone)
	t.row("deriving alone, ms", "%.0f", alone)
	t.row("from the response of finalize to the preview, ms", "%.0f", waited)
	t.atMost("the difference, ms", "%.0f", waited.minus(alone), previewWaitMS)
	t.print()

	generator, err := newLoadGenerator(server.address, 2, func(int) []byte {
		return request{http.MethodGet, fmt.Sprintf("/files/%d", m.files[0]), ""}.text(server.address, m.token)
	})
	if err != nil {
		return err
	}
	defer generator.close()
	if _, err := generator.run(ctx, o.round/2); err != nil { // warm-up
		return err
	}
	before, err := generator.run(ctx, o.round)
	if err != nil {
		return err
	}
	if err := server.finalize(ctx, m.token, m.thing, m.files[previewsAlone:]...); err != nil {
		return err
	}
	meanwhile, err := generator.run(ctx, o.round)
	if err != nil {
		return err
	}
	left := 0
	for _, id := range m.files[previewsAlone:] {
		if ready, err := server.ready(ctx, m.token, id); err != nil {
			return err
		} else if !ready {
			left++
		}
	}
	t = newTable("GET /files/{id} by 2 connections while %d previews are generated on %s, of which %d were unfinished at the end", previewsAtOnce, e, left)
	t.row("median alone, ms", "%.2f", series{before.median.Seconds() * 1000})
	t.row("median meanwhile, ms", "%.2f", series{meanwhile.median.Seconds() * 1000})
	t.atMost("meanwhile relative to alone", "%.2f", series{meanwhile.median.Seconds() / before.median.Seconds()}, 2)
	t.row("99th percentile alone, ms", "%.2f", series{before.p99.Seconds() * 1000})
	t.row("99th percentile meanwhile, ms", "%.2f", series{meanwhile.p99.Seconds() * 1000})
	t.print()
	return nil
}

// finalize attaches pending uploads to a thing.
func (p *process) finalize(ctx context.Context, token string, thing int64, files ...int64) error {
	pending := make([]map[string]int64, len(files))
	for i, id := range files {
		pending[i] = map[string]int64{"id": id}
	}
	body, err := json.Marshal(map[string]any{"pending_uploads": pending, "target_id": thing, "target_type": "thing"})
	if err != nil {
		return err
	}
	_, _, err = request{http.MethodPost, "/files/0/FinalizeFiles", string(body)}.send(ctx, p.address, token)
	return err
}

// ready reports whether a file has a preview.
func (p *process) ready(ctx context.Context, token string, file int64) (bool, error) {
	_, body, err := request{http.MethodGet, fmt.Sprintf("/files/%d", file), ""}.send(ctx, p.address, token)
	if err != nil {
		return false, err
	}
	var f struct {
		ThreejsURL string `json:"threejs_url"`
	}
	err = json.Unmarshal(body, &f)
	return f.ThreejsURL != "", err
}

// finalizeAndWait finalizes a file and returns the time from the response to the preview.
func (p *process) finalizeAndWait(ctx context.Context, token string, thing, file int64) (time.Duration, error) {
	if err := p.finalize(ctx, token, thing, file); err != nil {
		return 0, err
	}
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		ready, err := p.ready(ctx, token, file)
		if ready || err != nil {
			return time.Since(began), err
		}
		if time.Since(began) > time.Minute {
			return 0, fmt.Errorf("file %d has no preview after a minute", file)
		}
	}
}
