package main

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/graphqltest"
	"github.com/meshyard/meshyard/models"
)

// What an operation may take.
const (
	worstList        = 1000  // entries of the longest lists
	maxCPUPer100     = 20.0  // ms of processor time for each 100 of its cost
	maxBytesPer100   = 1.0   // MiB at the peak for each 100 of its cost
	maxOperationCPU  = 2_000 // ms
	maxOperationPeak = 64.0  // MiB
	leastCost        = 250   // costs below it are rounded up: the clock is too coarse
)

// amplified is what an operation takes.
type amplified struct {
	name      string
	cost      float64
	cpu, peak float64 // ms, MiB
}

func (a amplified) cpuPer100() float64  { return a.cpu * 100 / max(a.cost, leastCost) }
func (a amplified) peakPer100() float64 { return a.peak * 100 / max(a.cost, leastCost) }

// amplify asks for every field of the schema as often as its cost permits, of the most expensive
// objects that members can make, and prints what takes most for its cost. Then it asks for random
// combinations, and prints what was worse.
func amplify(ctx context.Context, o options, e engine) (err error) {
	v, closeAll, err := newVictim(ctx, o, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	if err := v.settle(ctx); err != nil {
		return err
	}
	probes := graphqltest.Probes(graph.New(nil).Schema(), "bench", worstList)
	var all []amplified
	for _, p := range probes {
		found, err := v.most(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		all = append(all, found)
	}
	v.print(fmt.Sprintf("every field of the schema, %d probes, on %s", len(probes), e), all)
	r, until := rand.New(rand.NewPCG(o.seed, 0)), time.Now().Add(o.search)
	var random []amplified
	for time.Now().Before(until) {
		document := graphqltest.Random(probes, r)
		found, accepted, err := v.measure(ctx, document)
		if err != nil {
			return fmt.Errorf("%.500s: %w", document, err)
		}
		if accepted {
			found.name = fmt.Sprintf("%.100s", document)
			random = append(random, found)
		}
	}
	if len(random) > 0 {
		v.print(fmt.Sprintf("%d random operations with seed %d, on %s", len(random), o.seed, e), random)
	}
	return nil
}

// victim is a server with a large catalogue and the most expensive objects.
type victim struct {
	engine
	db     *sql.DB
	server *process
	token  string
}

func newVictim(ctx context.Context, o options, e engine) (v *victim, closeAll func() error, err error) {
	address, drop, err := newDatabase(ctx, o, e)
	if err != nil {
		return nil, nil, err
	}
	log, err := os.Create(filepath.Join(o.dir, "import.log"))
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	load := exec.CommandContext(ctx, o.server, "import", "catalogue", tablesDir, "--scale", strconv.Itoa(cmp.Or(o.things, 20_000)), "--data", o.dir, "--database-url", address)
	load.Stderr = log
	if err := load.Run(); err != nil {
		return nil, nil, fmt.Errorf("import: %w", err)
	}
	app, _, err := openCatalogue(ctx, o, address)
	if err != nil {
		return nil, nil, err
	}
	v = &victim{engine: e}
	opened, err := models.OpenDB(ctx, address)
	if err != nil {
		return nil, nil, err
	}
	v.db = opened.SQL()
	var owner int64
	if err := v.db.QueryRowContext(ctx, "SELECT id FROM users WHERE username = 'bench'").Scan(&owner); err != nil {
		return nil, nil, err
	}
	statements := append(graphqltest.WorstRows(owner, worstList), "UPDATE users SET is_admin = true WHERE username = 'bench'",
		"UPDATE things SET html_version = 1", "UPDATE users SET html_version = 1", "VACUUM", "ANALYZE")
	for _, statement := range statements {
		if _, err := v.db.ExecContext(ctx, statement); err != nil {
			return nil, nil, fmt.Errorf("%.200s: %w", statement, err)
		}
	}
	if v.token, err = app.Store.Admin().CreateToken(ctx, "bench", "bench", auth.Scopes{auth.Read, auth.Write, auth.Admin}, 0); err != nil {
		return nil, nil, err
	}
	if v.server, err = startServer(ctx, o, "--database-url", address, "--preview-workers", "1"); err != nil {
		return nil, nil, err
	}
	return v, func() error { return errors.Join(v.server.stop(), opened.Close(), app.Close(), drop()) }, nil
}

// settle waits until the server has done what it does after its start.
func (v *victim) settle(ctx context.Context) error {
	for quiet := 0; quiet < 5; {
		before, err := v.cpu(ctx)
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
		after, err := v.cpu(ctx)
		if err != nil {
			return err
		}
		if quiet++; after-before > 50*time.Millisecond {
			quiet = 0
		}
	}
	return nil
}

// most asks for a field as often as its cost permits.
func (v *victim) most(ctx context.Context, p graphqltest.Probe) (found amplified, err error) {
	for times := 90; times > 0; times /= 3 {
		accepted := false
		if found, accepted, err = v.measure(ctx, p.Document(times)); err != nil || accepted {
			found.name = fmt.Sprintf("%s × %d", p.Name, times)
			return found, err
		}
	}
	return found, nil // too expensive to be asked for
}

// measure runs an operation. Accepted is whether its cost was within the limit.
func (v *victim) measure(ctx context.Context, document string) (found amplified, accepted bool, err error) {
	body, err := json.Marshal(map[string]any{"query": document, "extensions": map[string]any{"cost": true}})
	if err != nil {
		return found, false, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+v.server.address+"/graphql", bytes.NewReader(body))
	if err != nil {
		return found, false, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept-Encoding", "identity")
	request.Header.Set("Authorization", "Bearer "+v.token)
	before, err := v.cpu(ctx)
	if err != nil {
		return found, false, err
	}
	v.server.resetPeak()
	resting, err := v.server.usage()
	if err != nil {
		return found, false, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return found, false, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return found, false, err
	}
	after, err := v.cpu(ctx)
	if err != nil {
		return found, false, err
	}
	peak, err := v.server.usage()
	if err != nil {
		return found, false, err
	}
	var said struct {
		Errors []struct {
			Message    string
			Extensions struct{ Limit int64 }
		}
		Extensions struct{ Cost struct{ Requested float64 } }
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return found, false, err
	}
	for _, e := range said.Errors {
		if e.Extensions.Limit == 0 && said.Extensions.Cost.Requested == 0 {
			return found, false, fmt.Errorf("%s", e.Message)
		}
	}
	if found.cost = said.Extensions.Cost.Requested; found.cost == 0 {
		return found, false, nil
	}
	found.cpu, found.peak = (after-before).Seconds()*1000, float64(peak.peak-resting.rss)/(1<<20)
	return found, true, nil
}

// cpu returns the processor time of the server and of the processes that work for it in PostgreSQL.
func (v *victim) cpu(ctx context.Context) (time.Duration, error) {
	u, err := v.server.usage()
	if err != nil || v.engine == sqlite {
		return u.cpu, err
	}
	rows, err := v.db.QueryContext(ctx, "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var pid int
		if err := rows.Scan(&pid); err != nil {
			return 0, err
		}
		if spent, err := processorTimeOf(pid); err == nil { // it may have ended
			u.cpu += spent
		}
	}
	return u.cpu, rows.Err()
}

func (v *victim) print(title string, all []amplified) {
	worst := func(n int, by func(amplified) float64) []amplified {
		slices.SortFunc(all, func(a, b amplified) int { return cmp.Compare(by(b), by(a)) })
		return slices.Clone(all[:min(n, len(all))])
	}
	t := newTable("%s: what takes most", title)
	for _, a := range worst(12, amplified.cpuPer100) {
		t.atMost(fmt.Sprintf("%s (cost %.0f), ms for 100", a.name, a.cost), "%.1f", series{a.cpuPer100()}, maxCPUPer100)
	}
	for _, a := range worst(5, amplified.peakPer100) {
		t.atMost(fmt.Sprintf("%s (cost %.0f), MiB for 100", a.name, a.cost), "%.2f", series{a.peakPer100()}, maxBytesPer100)
	}
	for _, a := range worst(5, func(a amplified) float64 { return a.cpu }) {
		t.atMost(fmt.Sprintf("%s (cost %.0f), ms in all", a.name, a.cost), "%.0f", series{a.cpu}, maxOperationCPU)
	}
	for _, a := range worst(5, func(a amplified) float64 { return a.peak }) {
		t.atMost(fmt.Sprintf("%s (cost %.0f), MiB in all", a.name, a.cost), "%.0f", series{a.peak}, maxOperationPeak)
	}
	t.print()
}
