package graphql_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/graphql/graphqltest"
	"github.com/meshyard/meshyard/test/servertest"
)

// The weights of the work of an operation, in units of cost: what a statement, a row and 10 KiB of
// a response took when costs were calibrated with the amplification part of the benchmark.
const (
	statementWork = 3.0
	rowWork       = 0.5
	responseWork  = 1.0 / (10 << 10)
	parsingWork   = 10.0 // of any request
	slack         = 4.0  // the factor that a cost may be off
)

// calibration is a row of the calibration table: the cost and the work of one probe.
type calibration struct {
	Cost, Statements, Rows int64
	KiB                    int64
}

func (c calibration) work() float64 {
	return statementWork*float64(c.Statements) + rowWork*float64(c.Rows) + responseWork*float64(c.KiB<<10)
}

// affordable reports whether the work is at most slack times the cost.
func (c calibration) affordable() bool { return c.work() <= slack*(float64(c.Cost)+parsingWork) }

// like reports whether the cost and the work equal the calibrated ones within a factor of slack.
func (c calibration) like(known calibration) bool {
	within := func(a, b float64) bool { return a+parsingWork <= slack*(b+parsingWork) }
	return within(c.work(), known.work()) && within(float64(c.Cost), float64(known.Cost)) &&
		within(float64(known.Cost), float64(c.Cost))
}

const calibrationTable = "testdata/amplification.tsv"

// TestCostsFollowTheWork checks the statements, rows and bytes of every field of the schema, with
// the most expensive objects that members can create. They must be within 4 times the cost of the
// field, and within 4 times the values at the calibration. After a new calibration, -update writes
// the table again.
func TestCostsFollowTheWork(t *testing.T) {
	table := readCalibration(t)
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		m := newMeter(t, s)
		found := make(map[string]calibration)
		for _, p := range graphqltest.Probes(graph.New(nil).Schema(), "staff", worstRows) {
			known, ok := table[p.Name]
			c, accepted := m.measure(p.Document(1), func(c calibration) bool {
				return !*servertest.Update && c.affordable() &&
					c.like(known)
			})
			if !accepted {
				continue // more expensive than the limit
			}
			found[p.Name] = c
			switch {
			case !c.affordable():
				t.Errorf("%s: the work is %.0f (%+v), more than %.0f times its cost", p.Name, c.work(), c, slack)
			case *servertest.Update:
			case !ok:
				t.Errorf("%s: not in %s: calibrate its cost, then -update", p.Name, calibrationTable)
			case !c.like(known):
				t.Errorf("%s: is %+v, and was calibrated as %+v", p.Name, c, known)
			}
		}
		if *servertest.Update && strings.HasSuffix(t.Name(), "sqlite") {
			writeCalibration(t, graphqltest.Probes(graph.New(nil).Schema(), "staff", worstRows), found)
		}
	})
}

// TestNoCombinationIsCheap checks that the work of random operations is within 4 times their cost.
// `bench -only amplification-sqlite -search 1h` tries more of them.
func TestNoCombinationIsCheap(t *testing.T) {
	const operations = 60
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		m := newMeter(t, s)
		probes := graphqltest.Probes(graph.New(nil).Schema(), "staff", worstRows)
		r := rand.New(rand.NewPCG(1, 2))
		for range operations {
			document := graphqltest.Random(probes, r)
			if c, accepted := m.measure(document, calibration.affordable); accepted && !c.affordable() {
				t.Errorf("%.300s: the work is %.0f (%+v), more than %.0f times its cost", document, c.work(), c, slack)
			}
		}
	})
}

const worstRows = 200

// meter measures the work of operations on a server with the most expensive objects.
type meter struct {
	t     *testing.T
	s     *servertest.Server
	admin *servertest.Client
}

func newMeter(t *testing.T, s *servertest.Server) meter {
	t.Helper()
	s.Catalogue()
	m := meter{t, s, s.Administrator()}
	db := servertest.OpenDB(t, s).SQL()
	var owner int64
	if err := db.QueryRow("SELECT id FROM users WHERE username = 'staff'").Scan(&owner); err != nil {
		t.Fatal(err)
	}
	// Jobs of the server update the same rows, and remove tags that no thing has.
	err := database.RetryConflicts(func() error {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() // without effect after Commit
		for _, statement := range append(graphqltest.WorstRows(owner, worstRows), "UPDATE things SET html_version = 1",
			"UPDATE users SET html_version = 1") {
			if _, err := tx.ExecContext(t.Context(), statement); err != nil {
				return fmt.Errorf("%.200s: %w", statement, err)
			}
		}
		return tx.Commit()
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// measure returns the cost and the work of an operation. It measures up to four times until fine
// returns true, and uses the smallest work, because jobs of the server add statements. accepted is
// whether the cost is within the limit.
func (m meter) measure(document string, fine func(calibration) bool) (c calibration, accepted bool) {
	m.t.Helper()
	c, accepted = m.once(document)
	for range 3 {
		if !accepted || fine(c) {
			break
		}
		if again, _ := m.once(document); again.work() < c.work() {
			c = again
		}
	}
	return c, accepted
}

// once runs an operation once.
func (m meter) once(document string) (c calibration, accepted bool) {
	m.t.Helper()
	statements, rows := m.s.RequestStatements(), m.s.RequestRows()
	request := m.admin.Request(http.MethodPost, "/graphql",
		map[string]any{"query": document, "extensions": map[string]any{"cost": true}})
	request.Header.Set("Content-Type", "application/json")
	r := m.admin.Send(request)
	var said struct {
		Extensions struct{ Cost struct{ Requested int64 } }
	}
	if err := json.Unmarshal(r.Bytes, &said); err != nil {
		m.t.Fatalf("%.300s: %v: %.300s", document, err, r.Bytes)
	}
	cost := said.Extensions.Cost.Requested
	// The server rejects operations that cost too much, and documents that are too long.
	if cost == 0 && !bytes.Contains(r.Bytes, []byte("costs")) && !bytes.Contains(r.Bytes, []byte("TOO_LARGE")) {
		m.t.Errorf("%.300s: %.300s", document, r.Bytes)
	}
	return calibration{cost, m.s.RequestStatements() - statements, m.s.RequestRows() - rows, int64(len(r.Bytes) >> 10)},
		cost > 0
}

func readCalibration(t *testing.T) map[string]calibration {
	t.Helper()
	text, err := os.ReadFile(calibrationTable)
	if err != nil && !*servertest.Update {
		t.Fatal(err)
	}
	table := make(map[string]calibration)
	for line := range strings.Lines(string(text)) {
		name, numbers, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		var c calibration
		if _, err := fmt.Sscan(numbers, &c.Cost, &c.Statements, &c.Rows, &c.KiB); err == nil {
			table[name] = c
		}
	}
	return table
}

func writeCalibration(t *testing.T, probes []graphqltest.Probe, found map[string]calibration) {
	t.Helper()
	var b strings.Builder
	b.WriteString("probe\tcost\tstatements\trows\tKiB\n")
	for _, p := range probes {
		if c, ok := found[p.Name]; ok {
			fmt.Fprintf(&b, "%s\t%d\t%d\t%d\t%d\n", p.Name, c.Cost, c.Statements, c.Rows, c.KiB)
		}
	}
	if err := os.WriteFile(calibrationTable, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
