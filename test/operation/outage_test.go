package operation_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/outage"
	"github.com/meshyard/meshyard/test/servertest"
)

var newThing = map[string]any{"name": "One", "license": "cc", "category": "Tools", "description": "Made for a test."}

const uploadAny = `mutation ($file: Upload!) { uploadFile(input: {file: $file}) { file { id } } }`

// TestPostgresOutage checks that both APIs and the pages respond with 503 and Retry-After while
// PostgreSQL is unreachable, that an alert fires, and that the server recovers.
func TestPostgresOutage(t *testing.T) {
	t.Parallel()
	settings := servertest.Settings(t, "postgres")
	p := newProxy(t, settings.DatabaseURL)
	settings.DatabaseURL = p.url
	settings.PreviewWorkers = 2
	servertest.WithMetrics(&settings)
	log := new(servertest.LogBuffer)
	s := servertest.RunLogging(t, settings, slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	ada := s.User("ada")
	s.Password("ada", servertest.Password)
	id := ada.Thing("One")
	path := "/things/" + servertest.ID(id)
	ada.Get(path).Want(t, http.StatusOK)
	l := &timeline{t: t, server: s}
	l.scrape(scrapesBefore)
	p.stop()
	for range 3 { // pooled connections fail differently from new ones
		servertest.WantOutage(t, ada.Get(path), http.StatusServiceUnavailable, "")
		servertest.WantOutage(t, ada.Do(http.MethodPost, "/things/", newThing), http.StatusServiceUnavailable, "")
		servertest.WantOutage(t, servertest.Asked(ada, servertest.QueryBody("{ me { id } }")), http.StatusServiceUnavailable,
			"UNAVAILABLE")
		upload := ada.SendGraphQLUpload(uploadAny, servertest.Object{"file": nil}, "file", "a.stl",
			[]byte("solid a\nendsolid a\n"))
		servertest.WantOutage(t, upload, http.StatusServiceUnavailable, "UNAVAILABLE")
		servertest.WantOutage(t, s.Browser().Get("/thing:"+servertest.ID(id)), http.StatusServiceUnavailable, "")
		servertest.WantOutage(t, s.Browser().SignIn("ada", servertest.Password), http.StatusServiceUnavailable, "")
		servertest.WantProblem(t, s.Client("").Get("/"), http.StatusServiceUnavailable, "The server is busy")
		servertest.WantOutage(t, ada.Get("/"), http.StatusServiceUnavailable, "") // a token: no page
		servertest.WantOutage(t, s.Client("").Get(path+"/images/1"), http.StatusServiceUnavailable, "")
		ada.Get("/readyz").Want(t, http.StatusServiceUnavailable)
		ada.Get("/healthz").Want(t, http.StatusOK)
	}
	l.scrape(scrapesDuring)
	lasts(t, func() { ada.Get(path).Want(t, http.StatusServiceUnavailable) })
	time.Sleep(4 * time.Second) // the queue and the workers of previews try again several times
	p.start(t)
	wantNoRepetition(t, log)
	l.scrape(scrapesAfter)
	l.fire("MeshyardUnavailable", "MeshyardDatabaseUnreachable")
	back := time.Now()
	ada.Get(path).Want(t, http.StatusOK)
	ada.Thing("Two")
	ada.Get("/readyz").Want(t, http.StatusOK)
	db := servertest.OpenDB(t, s).SQL()
	servertest.Until(t, "a job of the time after the outage", func() bool {
		var done int
		err := db.QueryRow("SELECT count(*) FROM river_job WHERE state = 'completed' AND created_at > $1", back).Scan(&done)
		return err == nil && done > 0
	})
}

// TestPostgresReadOnlyOutage checks that changes fail with 503 and that the server is not ready
// while PostgreSQL is read-only, as after a failover that made it a standby, and that connections
// that were opened meanwhile are not used for changes later.
func TestPostgresReadOnlyOutage(t *testing.T) {
	t.Parallel()
	log := new(servertest.LogBuffer)
	s := servertest.RunLogging(t, servertest.Settings(t, "postgres"),
		slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	ada := s.User("ada")
	id := ada.Thing("One")
	c, err := pgx.ParseConfig(s.Settings.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := pgx.Connect(t.Context(), s.Settings.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	exec := func(statement string) {
		t.Helper()
		if _, err := admin.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	database := pgx.Identifier{c.Database}.Sanitize()
	exec("ALTER DATABASE " + database + " SET default_transaction_read_only = on")
	exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	servertest.Until(t, "a new connection", func() bool {
		return ada.Get("/things/"+servertest.ID(id)).
			StatusCode == http.StatusOK
	})
	for range 3 {
		servertest.WantOutage(t, ada.Do(http.MethodPost, "/things/", newThing), http.StatusServiceUnavailable, "")
		servertest.WantOutage(t,
			servertest.Asked(ada,
				servertest.QueryBody(`mutation { likeThing(input: {id: `+servertest.ID(id)+`}) { thing { id } } }`)),
			http.StatusServiceUnavailable, "UNAVAILABLE")
		ada.Get("/readyz").Want(t, http.StatusServiceUnavailable)
		ada.Get("/things/"+servertest.ID(id)).Want(t, http.StatusOK)
	}
	lasts(t, func() { ada.Get("/things/"+servertest.ID(id)).Want(t, http.StatusOK) })
	wantNoRepetition(t, log)
	// Many requests at once leave many connections that are read-only.
	var reads sync.WaitGroup
	for range 32 {
		reads.Go(func() { ada.Get("/things/" + servertest.ID(id)) })
	}
	reads.Wait()
	exec("ALTER DATABASE " + database + " RESET default_transaction_read_only")
	failed := 0
	servertest.Until(t, "changes again", func() bool {
		if ada.Do(http.MethodPost, "/things/", newThing).StatusCode != http.StatusOK {
			failed++
			return false
		}
		return ada.Get("/readyz").StatusCode == http.StatusOK
	})
	t.Logf("%d changes failed after PostgreSQL had recovered", failed)
}

// wantNoRepetition checks that no two lines of a log have the same message and the same error, and
// that the workers of previews logged none.
func wantNoRepetition(t *testing.T, log *servertest.LogBuffer) {
	t.Helper()
	seen := make(map[[3]string]bool)
	for _, line := range log.With(t, "level", "ERROR") {
		key := [3]string{fmt.Sprint(line["msg"]), fmt.Sprint(line["err"]), fmt.Sprint(line["error"])}
		if seen[key] || key[0] == "a preview was not generated" {
			t.Errorf("the log has %q again, or a line about a preview", key)
		}
		seen[key] = true
	}
}

// lasts makes an outage last MESHYARD_TEST_OUTAGE_SECONDS, and calls request once a second during
// it. Without the variable it returns immediately.
func lasts(t *testing.T, request func()) {
	t.Helper()
	seconds, _ := strconv.Atoi(os.Getenv("MESHYARD_TEST_OUTAGE_SECONDS"))
	for end := time.Now().Add(time.Duration(seconds) * time.Second); time.Now().Before(end); {
		request()
		time.Sleep(time.Second)
	}
}

// TestSQLiteLocked checks that writes fail with 503 while another process holds the write lock of
// SQLite for a long time.
func TestSQLiteLocked(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, "sqlite")
	ada := s.User("ada")
	other, err := sql.Open("sqlite", strings.TrimPrefix(s.Settings.DatabaseURL,
		"sqlite:")+"?_txlock=immediate&_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tx, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}
	r := ada.Do(http.MethodPost, "/things/", newThing)
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	servertest.WantOutage(t, r, http.StatusServiceUnavailable, "")
	ada.Thing("Two")
}

// TestBucketOutage checks that both APIs respond to uploads with 503 while S3 is unreachable, that
// reads without bytes go on, that an alert fires, and that the server recovers.
func TestBucketOutage(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			backend := s3mem.New()
			if err := backend.CreateBucket("meshyard"); err != nil {
				t.Fatal(err)
			}
			var down atomic.Bool
			working := gofakes3.New(backend).Server()
			fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if down.Load() {
					panic(http.ErrAbortHandler) // closes the connection
				}
				working.ServeHTTP(w, r)
			}))
			t.Cleanup(fake.Close)
			s := servertest.Start(t, engine, func(c *config.Settings) {
				c.BucketURL = "s3://meshyard?region=us-east-1&use_path_style=true&endpoint=" + url.QueryEscape(fake.URL)
				c.PreviewWorkers = 0
				servertest.WithMetrics(c)
			})
			ada := s.User("ada")
			stl := servertest.Mesh(t, "numpystl_HalfDonut_bin.stl")
			thing, file := ada.Thing("One"), ada.Upload("pending.stl", stl)
			waiting := ada.Upload("waiting.stl", stl)
			ada.Finalize("thing", thing, waiting).Want(t, http.StatusOK)
			ada.Publish(thing).Want(t, http.StatusOK)
			l := &timeline{t: t, server: s}
			l.scrape(scrapesBefore)
			down.Store(true)
			var uploaded, finalized, downloaded, content, ready *servertest.Response
			var byGraphQL *servertest.Response
			var calls sync.WaitGroup // each upload waits until the S3 client gives up
			calls.Go(func() { uploaded = ada.PostForm("/files/0/uploadFile", nil, "file", "a.stl", stl) })
			calls.Go(func() { finalized = ada.Finalize("thing", thing, file) })
			calls.Go(func() {
				byGraphQL = ada.SendGraphQLUpload(uploadAny, servertest.Object{"file": nil}, "file", "b.stl", stl)
			})
			calls.Go(func() { downloaded = ada.Get("/download:" + servertest.ID(waiting)) })
			calls.Go(func() { content = s.Client("").Get("/blobs/" + servertest.ID(waiting) + "/waiting.stl") })
			calls.Go(func() { ready = ada.Get("/readyz?all") })
			calls.Wait()
			servertest.WantOutage(t, uploaded, http.StatusServiceUnavailable, "")
			servertest.WantOutage(t, finalized, http.StatusServiceUnavailable, "")
			servertest.WantOutage(t, byGraphQL, http.StatusServiceUnavailable, "UNAVAILABLE")
			for _, r := range []*servertest.Response{downloaded, content} {
				servertest.WantOutage(t, r, http.StatusServiceUnavailable, "")
				if !strings.Contains(string(r.Bytes), "the storage for files is unavailable") {
					t.Errorf("%s: got %s, want it to name the storage", r.Request.URL.Path, r.Bytes)
				}
			}
			ready.Want(t, http.StatusServiceUnavailable)
			if string(ready.Bytes) != `{"status":"unavailable","failed":{"bucket":"unavailable"}}`+"\n" {
				t.Errorf("/readyz?all: got %s, want it to name the bucket alone", ready.Bytes)
			}
			for _, path := range []string{"/readyz", "/things/" + servertest.ID(thing), "/things/" + servertest.ID(thing) +
				"/files"} {
				ada.Get(path).Want(t, http.StatusOK)
			}
			for _, path := range []string{"/", "/thing:" + servertest.ID(thing), "/view/" + servertest.ID(waiting)} {
				s.Client("").Get(path).Want(t, http.StatusOK)
			}
			if again, err := s.Store.Previews.GeneratePreview(t.Context()); again || outage.Of(err) == nil {
				t.Errorf("make a preview: got %v, %v; want an outage", again, err)
			}
			if attempts := servertest.Processing(ada, waiting).Processing.Attempts; attempts != 0 {
				t.Errorf("the attempt during the outage counts: %d attempts", attempts)
			}
			if again, err := s.Store.Previews.GeneratePreview(t.Context()); again || err != nil {
				t.Errorf("make a preview at once: got %v, %v; want that it waits", again, err)
			}
			wantPostponed := func(n int) {
				t.Helper()
				if text := servertest.Scrape(t, s); !strings.Contains(text, fmt.Sprintf("\nmeshyard_previews_postponed %d\n", n)) {
					t.Errorf("the metrics do not have %d postponed previews", n)
				}
			}
			wantPostponed(1)
			l.scrape(scrapesDuring)
			lasts(t, func() { ada.Get("/readyz").Want(t, http.StatusOK) })
			down.Store(false)
			l.scrape(scrapesAfter)
			l.fire("MeshyardUnavailable", "MeshyardBucketFailing")
			ada.Finalize("thing", thing, file).Want(t, http.StatusOK)
			ada.Upload("c.stl", stl)
			// Do not wait for the time of the next attempt.
			if _, err := servertest.OpenDB(t, s).SQL().Exec("UPDATE previews SET beat_at = begun_at"); err != nil {
				t.Fatal(err)
			}
			if again, err := s.Store.Previews.GeneratePreview(t.Context()); !again || err != nil {
				t.Errorf("make a preview after the outage: %v, %v", again, err)
			}
			if state := servertest.Processing(ada, waiting).Processing.State; state != "DONE" {
				t.Errorf("the preview is %s, want DONE", state)
			}
			wantPostponed(0)
			ada.Get("/readyz?all").Want(t, http.StatusOK)
		})
	}
}

// proxy forwards connections to a PostgreSQL server until it is stopped.
type proxy struct {
	url             string
	network, target string
	address         string

	mu          sync.Mutex
	listener    net.Listener
	connections []net.Conn
}

func newProxy(t *testing.T, database string) *proxy {
	t.Helper()
	c, err := pgx.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{address: "127.0.0.1:0"}
	p.network, p.target = serverAddress(c)
	p.start(t)
	t.Cleanup(p.stop)
	p.address = p.listener.Addr().String()
	q := u.Query()
	q.Del("host")
	q.Del("port")
	q.Set("sslmode", "disable")
	u.Host, u.RawQuery = p.address, q.Encode()
	p.url = u.String()
	return p
}

// serverAddress returns the address of the PostgreSQL server of a connection.
func serverAddress(c *pgx.ConnConfig) (network, address string) {
	if strings.HasPrefix(c.Host, "/") {
		return "unix", c.Host + "/.s.PGSQL." + servertest.ID(int64(c.Port))
	}
	return "tcp", net.JoinHostPort(c.Host, servertest.ID(int64(c.Port)))
}

func (p *proxy) start(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", p.address)
	if err != nil {
		t.Fatal(err)
	}
	p.listener = listener
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial(p.network, p.target)
			if err != nil {
				client.Close()
				continue
			}
			p.mu.Lock()
			p.connections = append(p.connections, client, server)
			p.mu.Unlock()
			go forward(client, server)
			go forward(server, client)
		}
	}()
}

func forward(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	to.Close()
}

func (p *proxy) stop() {
	p.listener.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.connections {
		c.Close()
	}
	p.connections = nil
}
