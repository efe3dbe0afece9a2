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
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/graphqlhttp"
	"github.com/meshyard/meshyard/internal/graphqltest"
	"github.com/meshyard/meshyard/models"
)

// The limits of what an operation may cost the server.
const (
	worstList        = 1000  // entries in the longest lists
	maxCPUPer100     = 20.0  // ms of CPU time per 100 cost units
	maxBytesPer100   = 1.0   // MiB of peak memory per 100 cost units
	maxOperationCPU  = 2_000 // ms
	maxOperationPeak = 64.0  // MiB
	leastCost        = 250   // lower costs count as this one: every request takes some time
	leastTries       = 3     // for results above a limit: the lowest counts, to exclude other work
)

// amplified is the CPU time and memory that an operation takes.
type amplified struct {
	name      string
	document  string // "" for REST
	cost      float64
	cpu, peak float64 // ms, MiB
}

func (a amplified) cpuPer100() float64  { return a.cpu * 100 / max(a.cost, leastCost) }
func (a amplified) peakPer100() float64 { return a.peak * 100 / max(a.cost, leastCost) }

// amplify requests every field of the schema as often as its cost permits, on the most expensive
// objects that members can create, and prints the operations that take most for their cost. Then it
// does the same with random combinations of fields.
func amplify(ctx context.Context, o options, e engine) (err error) {
	v, closeAll, err := newTarget(ctx, o, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	if err := v.settle(ctx); err != nil {
		return err
	}
	probes := slices.DeleteFunc(graphqltest.Probes(graph.New(nil).Schema(), "bench", worstList), func(p graphqltest.Probe) bool {
		return !strings.Contains(p.Name, o.probes)
	})
	var all []amplified
	for _, p := range probes {
		found, err := v.most(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		all = append(all, found)
	}
	v.print(fmt.Sprintf("every field of the schema, %d probes, on %s", len(probes), e), all)
	routes, err := v.routes(ctx, o.probes)
	if err != nil {
		return err
	}
	if len(routes) > 0 {
		v.print(fmt.Sprintf("every list of REST, %d requests, on %s", len(routes), e), routes)
	}
	r, until := rand.New(rand.NewPCG(o.seed, 0)), time.Now().Add(o.search)
	var random []amplified
	for time.Now().Before(until) {
		document := graphqltest.Random(probes, r)
		found, accepted, err := v.measure(ctx, document)
		if err != nil {
			return fmt.Errorf("%.500s: %w", document, err)
		}
		if accepted {
			found.name, found.document = fmt.Sprintf("%.100s", document), document
			random = append(random, found)
		}
	}
	if len(random) > 0 {
		v.print(fmt.Sprintf("%d random operations in %s with seed %d, on %s", len(random), o.search, o.seed, e), random)
	}
	return v.compareCallers(ctx, o, slices.Concat(all, random))
}

// target is a server with a large catalogue and the most expensive objects that members can create.
type target struct {
	engine
	db     *sql.DB
	store  *models.Store
	server *process
	token  string
}

func newTarget(ctx context.Context, o options, e engine) (v *target, closeAll func() error, err error) {
	address, drop, err := newDatabase(ctx, o, e)
	if err != nil {
		return nil, nil, err
	}
	if _, _, err := o.importCatalogue(ctx, address, cmp.Or(o.things, 20_000)); err != nil {
		return nil, nil, err
	}
	app, _, err := openCatalogue(ctx, o, address)
	if err != nil {
		return nil, nil, err
	}
	v = &target{engine: e, store: app.Store}
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
	if v.server, err = startServer(ctx, o, "--database-url", address, "--preview-workers", "1", "--rate-limit", strconv.Itoa(endlessRate)); err != nil {
		return nil, nil, err
	}
	return v, func() error { return errors.Join(v.server.stop(), opened.Close(), app.Close(), drop()) }, nil
}

// settle waits until the server has finished its startup work: until it uses at most 50 ms of CPU
// time a second in five consecutive seconds.
func (v *target) settle(ctx context.Context) error {
	for quiet := 0; quiet < 5; {
		before, err := v.cpu(ctx)
		if err != nil {
			return err
		}
		if err := sleep(ctx, time.Second); err != nil {
			return err
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

// most measures an operation that requests a field as often as its cost permits.
func (v *target) most(ctx context.Context, p graphqltest.Probe) (found amplified, err error) {
	one, accepted, err := v.measure(ctx, p.Document(1))
	if err != nil || !accepted {
		return amplified{name: p.Name}, err // a single request already exceeds the cost limit
	}
	for times := min(90, graphqlhttp.MaxCost/int(one.cost)); times > 0; times-- {
		document := p.Document(times)
		if found, accepted, err = v.measure(ctx, document); err != nil || accepted {
			found.name, found.document = fmt.Sprintf("%s × %d", p.Name, times), document
			return found, err
		}
	}
	return found, nil
}

// measure runs an operation and returns its results. It repeats an operation that exceeds a limit
// and returns the lowest results. accepted is whether the cost of the operation was within the
// limit.
func (v *target) measure(ctx context.Context, document string) (found amplified, accepted bool, err error) {
	body, err := json.Marshal(map[string]any{"query": document, "extensions": map[string]any{"cost": true}})
	if err != nil {
		return found, false, err
	}
	return v.lowest(func() (found amplified, accepted bool, err error) {
		text, found, err := v.take(ctx, http.MethodPost, "/graphql", body)
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
		found.cost = said.Extensions.Cost.Requested
		return found, found.cost > 0, nil
	})
}

// lowest calls once, and repeats it up to leastTries times while the result exceeds a limit. It
// returns the lowest CPU time and peak memory.
func (v *target) lowest(once func() (amplified, bool, error)) (found amplified, accepted bool, err error) {
	for try := range leastTries {
		again, accepted, err := once()
		if err != nil || !accepted {
			return again, false, err
		}
		if try == 0 {
			found = again
		}
		found.cpu, found.peak = min(found.cpu, again.cpu), min(found.peak, again.peak)
		if found.cpuPer100() <= maxCPUPer100 && found.peakPer100() <= maxBytesPer100 && found.cpu <= maxOperationCPU && found.peak <= maxOperationPeak {
			break
		}
	}
	return found, true, nil
}

// take sends a request and measures the CPU time and the peak memory that it takes.
func (v *target) take(ctx context.Context, method, path string, body []byte) (text []byte, found amplified, err error) {
	request, err := v.request(ctx, method, path, body)
	if err != nil {
		return nil, found, err
	}
	before, err := v.cpu(ctx)
	if err != nil {
		return nil, found, err
	}
	v.server.resetPeak()
	resting, err := v.server.usage()
	if err != nil {
		return nil, found, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, found, err
	}
	defer response.Body.Close()
	if text, err = io.ReadAll(response.Body); err != nil {
		return nil, found, err
	}
	after, err := v.cpu(ctx)
	if err != nil {
		return nil, found, err
	}
	peak, err := v.server.usage()
	if err != nil {
		return nil, found, err
	}
	found.cpu, found.peak = (after-before).Seconds()*1000, float64(peak.peak-resting.rss)/(1<<20)
	return text, found, nil
}

func (v *target) request(ctx context.Context, method, path string, body []byte) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+v.server.address+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept-Encoding", "identity")
	request.Header.Set("Authorization", "Bearer "+v.token)
	return request, nil
}

// cpu returns the CPU time of the server and of its backend processes in PostgreSQL.
func (v *target) cpu(ctx context.Context) (time.Duration, error) {
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
		if spent, err := processorTimeOf(pid); err == nil { // the backend may have ended
			u.cpu += spent
		}
	}
	return u.cpu, rows.Err()
}

func (v *target) print(title string, all []amplified) {
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
