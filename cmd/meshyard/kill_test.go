package main_test

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	mathrand "math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestKill repeatedly kills the server by SIGKILL during uploads and finalizations, on the same
// data. After every restart, everything that was confirmed must exist. At the end, after gc, fsck
// must find no problems.
//
// MESHYARD_TEST_KILLS is the number of kills on each engine. MESHYARD_TEST_KILL_SEED repeats the
// random choices of a run, but not its timing.
func TestKill(t *testing.T) {
	t.Parallel()
	kills, seed := numberFrom(t, "MESHYARD_TEST_KILLS", 6), numberFrom(t, "MESHYARD_TEST_KILL_SEED", randomSeed())
	built := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			t.Logf("MESHYARD_TEST_KILL_SEED=%d", seed)
			salt := fnv.New64()
			_, _ = salt.Write([]byte(engine))
			k := &killing{
				catalogue: newCatalogue(t, built, databaseOn(t, engine)), t: t,
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

// killing is a run of the test on one engine.
type killing struct {
	*catalogue
	t    *testing.T
	rng  *mathrand.Rand
	book *ledger

	killed time.Time // when the last server was killed
}

func (k *killing) populate() {
	for _, name := range []string{"ada", "bob", "eve"} {
		k.run("user", "create", name)
		token := strings.TrimSpace(k.run("token", "create", name))
		k.book.users = append(k.book.users, &user{name: name, token: token})
		k.book.secrets = append(k.book.secrets, token)
	}
}

// round starts the server, checks everything that was confirmed before, lets clients work and kills
// the server. Depending on the round, it runs gc and fsck while the server is running or stopped.
func (k *killing) round(round int) {
	contents := pool(k.rng)
	beside := round%5 == 1 || round%5 == 2 // run gc while the server is working
	if beside {
		k.plantUploads()
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
		collector.Go(func() {
			for !l.killed.Load() {
				k.plantContents(contents)
				k.collectBeside()
			}
		})
	}
	if l.due > 0 {
		select {
		case <-l.fire:
		case <-time.After(1500 * time.Millisecond): // a slow machine: kill it at any moment
		}
	}
	time.Sleep(delay)
	l.killed.Store(true)
	s.kill()
	k.killed = time.Now()
	clients.Wait()
	collector.Wait()
	k.book.figures.kills++
	k.faults(fmt.Sprintf("round %d, killed %s", round, why))

	switch round % 4 {
	case 0: // restart immediately
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

// choose decides when to kill: after a delay, or shortly after a call was sent or answered.
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
	case l.mix == downloading:
		l.clock = gotDownload
	}
	if l.clock == sentBytes || l.clock == sentFinalize {
		delay = time.Duration(k.rng.IntN(8_000)) * time.Microsecond // while the call is being processed
	}
	return delay, fmt.Sprintf("%s after the moment %d of %q", delay, l.due, l.clock)
}

// verify checks everything that was confirmed so far, and fails the test on a violation. It reads
// the content of sample files.
func (k *killing) verify(c *client, sample int) {
	k.t.Helper()
	k.settle(k.killed)
	if err := k.book.verify(c, k.rng, sample); err != nil {
		k.t.Fatal(err)
	}
	k.faults("after the restart")
}

// faults fails the test if clients recorded violations.
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

// end checks everything once more, before and after garbage collection.
func (k *killing) end() {
	s := k.serve()
	c := newClient(s.url)
	k.verify(c, len(k.book.files))
	c.http.CloseIdleConnections()
	k.stop(s)
	k.collect()
	out := k.run("fsck", "--rehash", "--grace", "0s")
	if out != "database and bucket agree\n" {
		k.t.Errorf("fsck: got %q, want that database and bucket agree", out)
	}
	k.t.Logf("fsck: %s", out)
	if out := k.run("gc", "--grace", "0s"); !strings.Contains(out, "and 0 objects") {
		k.t.Errorf("gc once more: got %q, want nothing to remove", out)
	}
	s = k.serve()
	c = newClient(s.url)
	k.verify(c, len(k.book.files))
	k.stop(s)

	if f := k.book.figures; f.kills >= 6 && (f.uploads == 0 || f.forms == 0 || f.finalizes == 0 || f.downloads == 0 ||
		f.unanswered == 0) {
		k.t.Errorf("got %+v, want some of everything: the test has tested nothing", f)
	}
	k.checkLog(k.book.secrets)
}

var anyToken = regexp.MustCompile(`meshyard_[0-9A-Za-z]{49}`)

// checkLog checks that the logs of the servers contain all requests, and no secret or panic.
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
		if strings.Contains(log, strings.TrimPrefix(s, "meshyard_")) {
			c.t.Fatalf("log: got it with the secret %.8s… in it, want none", s)
		}
	}
}
