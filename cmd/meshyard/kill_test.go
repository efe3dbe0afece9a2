package main_test

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/pgtest"
)

// The server is killed, by kill -9, in the middle of uploads and finalizations, again and again on the same data. After every restart all
// that was answered is there, and in the end gc leaves nothing that fsck could find fault with.
//
// MESHYARD_KILLS is how many times, on each engine; MESHYARD_KILL_SEED repeats the choices of a run, though not its timing.
func TestKill(t *testing.T) {
	t.Parallel()
	kills, seed := numberFrom(t, "MESHYARD_KILLS", 6), numberFrom(t, "MESHYARD_KILL_SEED", randomSeed())
	built := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			t.Logf("MESHYARD_KILL_SEED=%d", seed)
			database := ""
			if engine == "postgres" {
				database = pgtest.Database(t)
			}
			salt := fnv.New64()
			_, _ = salt.Write([]byte(engine))
			k := &killing{
				catalogue: newCatalogue(t, built, database), t: t,
				rng: mathrand.New(mathrand.NewPCG(uint64(seed), salt.Sum64())), book: new(ledger),
			}
			k.populate()
			for round := range int(kills) {
				k.round(round)
			}
			k.end()
			t.Logf("%+v", k.book.figures)
		})
	}
}

func numberFrom(t *testing.T, variable string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		t.Fatalf("%s=%q: want a number", variable, text)
	}
	return n
}

func randomSeed() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return int64(binary.BigEndian.Uint64(b[:]) >> 12)
}

// killing is one run on one engine.
type killing struct {
	*catalogue
	t    *testing.T
	rng  *mathrand.Rand
	book *ledger
}

func (k *killing) populate() {
	for _, name := range []string{"ada", "bob", "eve"} {
		k.run("user", "create", name)
		token := strings.TrimSpace(k.run("token", "create", name))
		k.book.users = append(k.book.users, &user{name: name, token: token})
		k.book.secrets = append(k.book.secrets, token)
	}
}

// round starts the server, looks at all that was answered before, lets clients work and kills it. What an operator may do with a catalogue
// whose server is down, or runs, comes in turns.
func (k *killing) round(round int) {
	contents := pool(k.rng)
	beside := round%5 == 1 || round%5 == 2 // gc, while the server is at work
	if beside {
		k.plant(contents)
	}
	s := k.serve()
	c := newClient(s.url)
	defer c.http.CloseIdleConnections()
	k.verify(c, 12)
	for _, u := range k.book.users {
		thing, err := c.thing(u, fmt.Sprintf("Round %d", round))
		if err != nil {
			k.t.Fatal(err)
		}
		u.things = append(u.things, thing)
	}

	l := &load{client: c, book: k.book, mix: mix(round % int(mixes)), pool: contents, fire: make(chan struct{})}
	delay, why := k.choose(l)
	clients := l.run(k.rng, 9)
	var collector sync.WaitGroup
	if beside {
		collector.Go(func() { k.collectBeside() })
	}
	if l.due > 0 {
		select {
		case <-l.fire:
		case <-time.After(5 * time.Second):
			k.book.problem("round %d: want to kill %s: it did not come within 5s", round, why)
		}
	}
	time.Sleep(delay)
	l.killed.Store(true)
	s.kill()
	clients.Wait()
	collector.Wait()
	k.book.figures.kills++
	k.faults(fmt.Sprintf("round %d, killed %s", round, why))

	switch round % 4 {
	case 0: // straight on
	case 1:
		k.fsck(false)
		k.collect()
		k.fsck(true)
	case 2:
		k.killCollector()
	case 3:
		k.fsck(false)
	}
	k.faults(fmt.Sprintf("round %d, killed %s, before the restart", round, why))
}

// choose says when to kill: after a while, or close to something that the clients have just sent or been answered.
func (k *killing) choose(l *load) (delay time.Duration, why string) {
	if k.rng.IntN(3) == 0 {
		delay = time.Duration(30+k.rng.IntN(600)) * time.Millisecond
		return delay, fmt.Sprintf("after %s", delay)
	}
	l.clock, l.due = moment(k.rng.IntN(int(moments))), int64(1+k.rng.IntN(40))
	switch {
	case l.mix == finalizing:
		l.clock = []moment{sentFinalize, gotFinalize}[k.rng.IntN(2)]
		l.due = 1 + l.due/3
	case l.mix == staging && l.clock == gotDownload:
		l.clock = gotUpload
	}
	if l.clock == sentBytes || l.clock == sentFinalize {
		delay = time.Duration(k.rng.IntN(8_000)) * time.Microsecond // while it is being worked on
	}
	return delay, fmt.Sprintf("%s after the moment %d of %q", delay, l.due, l.clock)
}

// verify asks the server for all that was answered so far.
func (k *killing) verify(c *client, sample int) {
	k.t.Helper()
	if err := k.book.verify(c, k.rng, sample); err != nil {
		k.t.Fatal(err)
	}
	k.faults("after the restart")
}

// faults ends the test where something was not as it must be.
func (k *killing) faults(when string) {
	k.t.Helper()
	for i, p := range k.book.problems {
		if i == 20 {
			k.t.Errorf("and %d more", len(k.book.problems)-i)
			break
		}
		k.t.Errorf("%s: %s", when, p)
	}
	if len(k.book.problems) > 0 {
		k.t.FailNow()
	}
}

// fsck must find that all is well or, unless it was collected before, objects alone that gc can remove.
func (k *killing) fsck(collected bool) {
	k.t.Helper()
	out, stderr, err := k.try("fsck", "--rehash", "--grace", "0s")
	if err == nil {
		return
	}
	if collected || strings.TrimSpace(out) == "" {
		k.book.problem("fsck: got %v, want exit status 0: %s%s", err, out, stderr)
	}
	for line := range strings.Lines(out) {
		if !strings.Contains(line, "no file names it") {
			k.book.problem("fsck before gc: got %q, want nothing that gc cannot remove", strings.TrimSpace(line))
		}
	}
}

var collected = regexp.MustCompile(`(?m)^removed \d+ expired uploads and (\d+) objects`)

// collect collects all garbage. The server is down.
func (k *killing) collect() {
	k.t.Helper()
	k.settle()
	k.count(k.run("gc", "--grace", "0s"))
}

func (k *killing) count(out string) {
	m := collected.FindStringSubmatch(out)
	if m == nil {
		k.book.problem("gc: got %q, want how much it removed", out)
		return
	}
	n, _ := strconv.Atoi(m[1])
	k.book.do(func() { k.book.figures.collected += n })
}

// collectBeside collects old garbage while the server is at work.
func (k *killing) collectBeside() {
	out, stderr, err := k.try("gc")
	if err != nil {
		k.book.problem("gc beside the server: got %v, want exit status 0: %s%s", err, out, stderr)
		return
	}
	k.count(out)
}

// killCollector kills gc as well. What it left half done, the next one finishes.
func (k *killing) killCollector() {
	k.t.Helper()
	k.plant(pool(k.rng))
	k.settle()
	p := k.start("gc", "--grace", "0s")
	time.Sleep(time.Duration(15+k.rng.IntN(60)) * time.Millisecond)
	p.kill()
	if p.err != nil { // else it was faster
		k.book.figures.gcKills++
	}
	k.fsck(false)
}

// plant makes everything in the bucket two hours old, and adds what kills leave there: cut writes, uploads without a row, and contents
// that were promoted and whose finalization was never committed. gc then has something to do while the same contents are uploaded.
func (k *killing) plant(contents [][]byte) {
	k.t.Helper()
	dir := filepath.Join(k.data, "bucket")
	for _, b := range contents {
		k.write(filepath.Join(dir, filepath.FromSlash(bucket.ContentKey(contentOf(b).sha256))), b)
	}
	for i := range 60 {
		name := make([]byte, 20)
		_, _ = rand.Read(name) // never fails
		k.write(filepath.Join(dir, filepath.FromSlash(bucket.PendingPrefix), hex.EncodeToString(name)+[]string{"", ".tmp"}[i%2]), name)
	}
	old := time.Now().Add(-2 * time.Hour)
	objects, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		k.t.Fatal(err)
	}
	for _, path := range objects {
		if err := os.Chtimes(path, old, old); err != nil {
			k.t.Fatal(err)
		}
	}
}

func (k *killing) write(path string, b []byte) {
	k.t.Helper()
	if err := os.WriteFile(path, b, 0o640); err != nil {
		k.t.Fatal(err)
	}
}

// settle waits until PostgreSQL has noticed that a killed process is gone: a commit that was on its way when it died may still be
// carried out, and no grace allows for it.
func (k *killing) settle() {
	k.t.Helper()
	if k.database == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, k.database)
	if err != nil {
		k.t.Fatal(err)
	}
	defer conn.Close(ctx)
	for others := 1; others > 0; time.Sleep(time.Millisecond) {
		err := conn.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
			AND backend_type = 'client backend'`).Scan(&others)
		if err != nil {
			k.t.Fatalf("wait for the sessions of a killed process to end: %v", err)
		}
	}
}

// end looks at everything once more, before and after the garbage is collected.
func (k *killing) end() {
	s := k.serve()
	c := newClient(s.url)
	k.verify(c, len(k.book.files))
	c.http.CloseIdleConnections()
	k.stop(s)
	k.collect()
	if out := k.run("fsck", "--rehash", "--grace", "0s"); out != "database and bucket agree\n" {
		k.t.Errorf("fsck: got %q, want that database and bucket agree", out)
	}
	if out := k.run("gc", "--grace", "0s"); !strings.Contains(out, "and 0 objects") {
		k.t.Errorf("gc once more: got %q, want nothing to remove", out)
	}
	s = k.serve()
	c = newClient(s.url)
	k.verify(c, len(k.book.files))
	k.stop(s)

	if f := k.book.figures; f.kills > 0 && (f.uploads == 0 || f.forms == 0 || f.finalizes == 0 || f.downloads == 0 || f.unanswered == 0) {
		k.t.Errorf("got %+v, want some of everything: the test has tested nothing", f)
	}
	k.checkLog(k.book.secrets)
}

var anyToken = regexp.MustCompile(`my_[A-Za-z0-9_-]{43}`)

// checkLog sees that the servers' log holds no secret.
func (c *catalogue) checkLog(secrets []string) {
	c.t.Helper()
	log := c.logged()
	if !strings.Contains(log, `"path":"/files/0/uploadFile"`) {
		c.t.Errorf("log: got no request in %d bytes, want them all", len(log))
	}
	for line := range strings.Lines(log) {
		if anyToken.MatchString(line) || strings.Contains(line, "signature=") || strings.Contains(line, "access_token") {
			c.t.Fatalf("log: got %q, want no token and no signature", line)
		}
		if strings.Contains(line, "panic") {
			c.t.Errorf("log: got %q, want no panic", line)
		}
	}
	for _, s := range secrets {
		if strings.Contains(log, strings.TrimPrefix(s, "my_")) {
			c.t.Fatalf("log: got it with the secret %.8s… in it, want none", s)
		}
	}
}
