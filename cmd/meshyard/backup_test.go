package main_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/meshyard/meshyard/internal/pgtest"
)

// TestBackup backs up a catalogue twice while clients upload, replace, finalize, download and
// delete files. A restored backup must pass fsck and contain everything that was confirmed before
// the backup started. On PostgreSQL it is restored to S3, and backed up again from there.
func TestBackup(t *testing.T) {
	t.Parallel()
	built := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			rng := mathrand.New(mathrand.NewPCG(1, 2))
			k := &killing{catalogue: newCatalogue(t, built, databaseOn(t, engine)), t: t, rng: rng, book: new(ledger)}
			k.populate()
			s := k.serve()
			c := newClient(s.url)
			for _, u := range k.book.users {
				thing, err := c.thing(u, "Before")
				if err != nil {
					t.Fatal(err)
				}
				u.things = append(u.things, thing)
			}
			l := &load{client: c, book: k.book, mix: everything, pool: pool(rng), clock: gotFinalize, due: 20,
				fire: make(chan struct{})}
			clients := l.run(rng, 6)
			clients.Go(func() { l.uploadAndDelete(k.book.users[0]) })
			<-l.fire

			dir := filepath.Join(t.TempDir(), "backup")
			k.run("backup", dir)
			confirmed := k.book.copy()
			second := k.run("backup", dir)
			l.killed.Store(true)
			clients.Wait()
			if !strings.Contains(second, "the backup contains the state of ") ||
				strings.Contains(second, " of which 0 objects") {
				t.Errorf("the second backup printed %q, want that some objects were new", second)
			}
			k.stop(s)
			k.faults("during the backups")

			restored := newCatalogue(t, built, databaseOn(t, engine))
			if engine == "postgres" {
				restored.useS3()
			}
			if out := restored.run("restore", dir); !strings.HasSuffix(out, "database and bucket agree\n") {
				t.Errorf("restore printed %q", out)
			}
			if out := restored.run("fsck", "--rehash", "--grace", "0s"); out != "database and bucket agree\n" {
				t.Errorf("fsck after the restore: %q", out)
			}
			if _, stderr, err := restored.try("restore", dir); exitStatus(err) != 1 ||
				!strings.Contains(stderr, "there is a database already") {
				t.Errorf("a second restore: %v, %q; want it rejected", err, stderr)
			}
			server := restored.serve()
			after := newClient(server.url)
			if problems := confirmed.missing(after); len(problems) > 0 {
				t.Errorf("after the restore: %s", strings.Join(problems, "\n"))
			}
			restored.stop(server)
			again := filepath.Join(t.TempDir(), "again")
			restored.run("backup", again)
			if out := restored.run("backup", again); !strings.Contains(out, "of which 0 objects (0 bytes) were new") {
				t.Errorf("the second backup of a server at rest printed %q", out)
			}
		})
	}
}

// TestBackupCountsWhatItKeeps checks that objects which are not part of the state, such as scaled
// images, are neither kept nor counted as new.
func TestBackupCountsWhatItKeeps(t *testing.T) {
	t.Parallel()
	c := newCatalogue(t, buildBinary(t), "")
	file := filepath.Join(t.TempDir(), "things.csv")
	if err := os.WriteFile(file, []byte("name,creator\nGear,bob\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.run("import", "things", file)
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("stray")))
	for _, key := range []string{"files/" + sum, "derived/" + sum + ".mesh.7.preview_large.png", "derived/" + sum +
		".mesh.7.full.png"} {
		if err := os.WriteFile(filepath.Join(c.data, "bucket", key), []byte("stray"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out := c.run("backup", filepath.Join(t.TempDir(), "backup")); !strings.Contains(out,
		": 0 objects (0 bytes), of which 0 objects (0 bytes) were new") {
		t.Errorf("backup printed %q", out)
	}
}

// TestRunsAreInMetrics checks that a running server reports the last complete backup and fsck, and
// the number of problems that they found.
func TestRunsAreInMetrics(t *testing.T) {
	t.Parallel()
	built := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := newCatalogue(t, built, databaseOn(t, engine))
			c.env = append(c.env, "MESHYARD_METRICS_TOKEN=scrape")
			c.run("migrate")
			c.run("user", "create", "ada")
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "part.stl"), []byte("solid part\nendsolid part\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, "README.md"), []byte("A part."), 0o600); err != nil {
				t.Fatal(err)
			}
			c.run("import", "folder", folder, "--owner", "ada", "--publish", "--license", "cc")
			server := c.serve()
			want := func(command string, least time.Time, problems int) {
				t.Helper()
				request, _ := http.NewRequest("GET", server.url+"/metrics", nil)
				request.Header.Set("Authorization", "Bearer scrape")
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				defer response.Body.Close()
				text, err := io.ReadAll(response.Body)
				if err != nil {
					t.Fatal(err)
				}
				values := map[string]float64{"timestamp_seconds": -1, "problems": -1}
				for name := range values {
					if found := regexp.MustCompile(`(?m)^meshyard_last_run_` + name + `\{command="` + command + `"\} (\S+)$`).
						FindSubmatch(text); found != nil {
						values[name], _ = strconv.ParseFloat(string(found[1]), 64)
					}
				}
				at := time.Unix(int64(values["timestamp_seconds"]), 0)
				if never := least.IsZero(); never && at.Unix() != 0 || !never && (at.Before(least.Truncate(time.Second)) ||
					at.After(time.Now())) || int(values["problems"]) != problems {
					t.Errorf("%s: the metrics are %v, want a time after %s and %d problems", command, values, least, problems)
				}
			}
			want("backup", time.Time{}, 0)
			want("fsck", time.Time{}, 0)
			began, dir := time.Now(), filepath.Join(t.TempDir(), "backup")
			c.run("backup", dir)
			want("backup", began, 0)
			want("fsck", time.Time{}, 0)
			began = time.Now()
			c.run("fsck")
			want("fsck", began, 0)
			objects, err := filepath.Glob(filepath.Join(c.data, "bucket", "files", "*"))
			if err != nil || len(objects) != 1 {
				t.Fatalf("the objects are %q, %v", objects, err)
			}
			if err := os.Remove(objects[0]); err != nil {
				t.Fatal(err)
			}
			began = time.Now()
			for _, args := range [][]string{{"backup", filepath.Join(t.TempDir(), "without")}, {"fsck"}} {
				if _, stderr, err := c.try(args...); exitStatus(err) != 1 {
					t.Errorf("%s without an object: %v, %s; want exit status 1", args[0], err, stderr)
				}
				want(args[0], began, 1)
			}
			want("backup", began, 1)

			// A restored database has the time of the backup before, and fsck runs after the restore.
			c.stop(server)
			restored := newCatalogue(t, built, databaseOn(t, engine))
			restored.env = c.env
			// A later backup that was killed left an object, which this backup does not count.
			if err := os.WriteFile(filepath.Join(dir, "objects", "files", fmt.Sprintf("%x", sha256.Sum256([]byte("left")))),
				[]byte("left"), 0o600); err != nil {
				t.Fatal(err)
			}
			began = time.Now()
			if first, _, _ := strings.Cut(restored.run("restore", dir), "\n"); !strings.Contains(first,
				": copied 2 objects (") || strings.Contains(first, " of 1") {
				t.Errorf("restore printed %q first, want that it copied 2 objects", first)
			}
			server = restored.serve()
			want("backup", time.Time{}, 0)
			want("fsck", began, 0)
		})
	}
}

// useS3 configures a bucket in a fake S3 server.
func (c *catalogue) useS3() {
	backend := s3mem.New()
	if err := backend.CreateBucket("models"); err != nil {
		c.t.Fatal(err)
	}
	fake := httptest.NewServer(gofakes3.New(backend).Server())
	c.t.Cleanup(fake.Close)
	c.settings = append(c.settings, "--bucket-url",
		"s3://models?region=us-east-1&use_path_style=true&endpoint="+url.QueryEscape(fake.URL))
	c.env = append(c.env, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test")
}

// uploadAndDelete uploads files until the load ends, and deletes each one as soon as it is
// confirmed.
func (l *load) uploadAndDelete(u *user) {
	for i := 0; !l.killed.Load(); i++ {
		body, contentType := multipartBody(nil, "deleted.stl", strings.NewReader(fmt.Sprintf("solid %d", i)))
		a, err := l.send(u, http.MethodPost, "/files/0/uploadFile", contentType, body)
		if !l.answered("upload to be deleted", a, err, http.StatusOK) {
			return
		}
		var up struct{ ID int64 }
		_ = json.Unmarshal(a.body, &up)
		mutation := fmt.Sprintf(`{"query": "mutation { deletePendingUpload(input: {id: %d}) { deletedId } }"}`, up.ID)
		a, err = l.send(u, http.MethodPost, "/graphql", "application/json", strings.NewReader(mutation))
		if l.answered("delete an upload", a, err, http.StatusOK) && strings.Contains(string(a.body), `"errors"`) {
			l.book.problem("delete an upload: %s", a.body)
		}
	}
}

// confirmed contains the users and the files that clients knew of at one point in time.
type confirmed struct {
	users []*user
	files []file
}

// copy returns the users and those files whose content is confirmed.
func (l *ledger) copy() *confirmed {
	c := &confirmed{users: l.users}
	l.do(func() {
		for _, f := range l.files {
			if f.has != nil {
				c.files = append(c.files, *f)
			}
		}
	})
	return c
}

// missing returns a problem for each confirmed fact that does not hold on a restored server.
func (c *confirmed) missing(server *client) (problems []string) {
	attached := map[int64]bool{}
	for _, u := range c.users {
		for _, thing := range u.things {
			var files []info
			if err := server.json(u, fmt.Sprintf("/things/%d/files", thing), &files); err != nil {
				problems = append(problems, err.Error())
			}
			for _, f := range files {
				attached[f.ID] = true
			}
		}
	}
	for _, f := range c.files {
		var got info
		status, err := server.try(f.owner, fmt.Sprintf("/files/%d", f.id), &got)
		switch {
		case err != nil || status != http.StatusOK:
			problems = append(problems, fmt.Sprintf("file %d, %s: got %d, %v", f.id, f.story(), status, err))
		case f.form == nil && got.Hash != f.has.md5: // a form may have been posted again since then
			problems = append(problems, fmt.Sprintf("file %d, %s: got the hash %s, want %s", f.id, f.story(), got.Hash,
				f.has.md5))
		case got.DownloadCount < f.downloads:
			problems = append(problems, fmt.Sprintf("file %d: got %d downloads, want %d or more", f.id, got.DownloadCount,
				f.downloads))
		case f.finalized && !attached[f.id]:
			problems = append(problems, fmt.Sprintf("file %d, %s: is not finalized", f.id, f.story()))
		}
	}
	return problems
}

// TestBackupWithoutPrograms checks the errors of backup and restore if pg_dump and pg_restore are
// not installed or fail, and that objects can be backed up without the database.
func TestBackupWithoutPrograms(t *testing.T) {
	t.Parallel()
	built := buildBinary(t)
	c := newCatalogue(t, built, pgtest.Database(t))
	c.run("user", "create", "ada")
	dir, other := filepath.Join(t.TempDir(), "backup"), newCatalogue(t, built, pgtest.Database(t))
	without := func(args ...string) (string, error) {
		command := c.command(args...)
		if args[0] == "restore" {
			command = other.command(args...)
		}
		command.Env = append(command.Env, "PATH=")
		out, err := command.CombinedOutput()
		return string(out), err
	}
	if out, err := without("backup", dir); exitStatus(err) != 1 || !strings.Contains(out, "pg_dump is not in the PATH") ||
		!strings.Contains(out, "--no-database") {
		t.Errorf("backup without pg_dump: %v, %q", err, out)
	}
	if out, err := without("backup", dir, "--no-database"); err != nil ||
		!strings.Contains(out, "it does not contain the database") {
		t.Errorf("backup --no-database: %v, %q", err, out)
	}
	if out, err := without("restore", dir); exitStatus(err) != 1 ||
		!strings.Contains(out, "restore it first by other means") {
		t.Errorf("restore without the database: %v, %q", err, out)
	}
	c.run("backup", dir)
	programs := t.TempDir()
	if err := os.WriteFile(filepath.Join(programs, "pg_dump"), []byte("#!/bin/sh\necho first\necho second\nexit 1\n"),
		0o700); err != nil {
		t.Fatal(err)
	}
	failing := c.command("backup", dir)
	failing.Env = append(failing.Env, "PATH="+programs)
	if out, err := failing.CombinedOutput(); exitStatus(err) != 1 ||
		!strings.HasSuffix(string(out), "meshyard: pg_dump: exit status 1: first; second\n") {
		t.Errorf("backup with a pg_dump that fails: got %v and %q, want exit status 1 and one line", err, out)
	}
	if out, err := without("restore", dir); exitStatus(err) != 1 ||
		!strings.Contains(out, "pg_restore is not in the PATH") {
		t.Errorf("restore without pg_restore: %v, %q", err, out)
	}
	sqlite := newCatalogue(t, built, "")
	if _, stderr, err := sqlite.try("restore", dir); exitStatus(err) != 1 ||
		!strings.Contains(stderr, "the backup is of a postgres database") {
		t.Errorf("restore to another engine: %v, %q", err, stderr)
	}
	sqlite.run("user", "create", "ada")
	if _, stderr, err := sqlite.try("backup", sqlite.data); exitStatus(err) != 1 ||
		!strings.Contains(stderr, "is not a backup folder") {
		t.Errorf("backup into the data folder: %v, %q", err, stderr)
	}
}
