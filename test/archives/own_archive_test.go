package archives_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/archive"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/auth/oauth"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models"
	archives "github.com/meshyard/meshyard/models/archive"
	"github.com/meshyard/meshyard/test/servertest"
)

const archivePath = "/login/archive"

// acceptsPage is what browsers send as Accept when they open a page.
const acceptsPage = "text/html,application/xhtml+xml,*/*;q=0.8"

// unzipped writes the files of a ZIP archive to a folder.
func unzipped(t *testing.T, content []byte) (dir string) {
	t.Helper()
	z := servertest.Must(zip.NewReader(bytes.NewReader(content), int64(len(content))))(t)
	dir = t.TempDir()
	if err := os.CopyFS(dir, z); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestOwnArchive checks that the archive that a user downloads is the one that the operator exports
// for them, and that it can be imported into a server with the other engine.
func TestOwnArchive(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		p := archiveFixture(t, s)
		p.Upload("own", "pending.txt", []byte("a pending upload"))
		token := s.Token("own")
		s.Fold()
		b := s.Browser()
		b.Accept = acceptsPage
		b.SignIn("own", "a long password")
		r := b.Get(archivePath).Want(t, 200)
		h := r.Header
		if h.Get("Content-Type") != "application/zip" || h.Get("Content-Disposition") != "attachment; filename=own.zip" ||
			h.Get("Cache-Control") != "no-store" || h.Get("Content-Encoding") != "" {
			t.Errorf("the headers: %v", h)
		}
		dir := t.TempDir()
		file, operators := filepath.Join(dir, "own.zip"), filepath.Join(dir, "operators.zip")
		if err := os.WriteFile(file, r.Bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		m := export(t, s, operators, archives.Export{User: "own"}, false)
		if m.Files.Count < 2 || len(m.Missing) > 0 {
			t.Errorf("the archive has %+v", m.Files)
		}
		wantSame(t, unzipped(t, servertest.Must(os.ReadFile(operators))(t)), unzipped(t, r.Bytes))
		z := servertest.Must(zip.OpenReader(file))(t)
		defer z.Close()
		var all strings.Builder
		for _, f := range z.File {
			from := servertest.Must(f.Open())(t)
			if _, err := io.Copy(&all, from); err != nil {
				t.Fatal(err)
			}
		}
		if own := `"body":"parent"`; !strings.Contains(all.String(), own) {
			t.Errorf("the archive has no %s, the comment of the user", own)
		}
		named := 0
		for _, f := range z.File {
			if folder, name := path.Split(f.Name); strings.HasPrefix(folder, "files/") {
				row := regexp.MustCompile(`"name":"` + regexp.QuoteMeta(name) + `".*"sha256":"` + path.Base(folder) + `"`)
				if named++; !row.MatchString(all.String()) {
					t.Errorf("no file has the name and the content of %s", f.Name)
				}
			}
		}
		if int64(named) != m.Files.Count {
			t.Errorf("the archive has %d named contents, want %d", named, m.Files.Count)
		}
		// The comment of zoe replies to that of the user.
		for _, other := range []string{"zoe@example.org", `"body":"reply"`, "a pending upload", "pending.txt", "argon2id",
			token, auth.HashSecret(token)} {
			if strings.Contains(all.String(), other) {
				t.Errorf("the archive contains %q", other)
			}
		}

		to := otherEngine(t)
		importArchive(t, to, file, archives.Import{})
		wantSound(t, to)
		if moved := servertest.Must(to.Store.User(context.Background(), auth.Caller{}, models.AllUserFields,
			"own"))(t); moved.AvatarID == 0 {
			t.Errorf("the user: %+v", moved)
		}
	})
}

// TestOwnArchiveNeedsTheUser checks who can download the archive of a user.
func TestOwnArchiveNeedsTheUser(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ctx := context.Background()
		s.Administrator()
		ada := s.User("ada")
		s.Password("ada", "a long password")
		own := servertest.Must(s.Store.User(ctx, auth.Caller{}, models.AllUserFields, "ada"))(t)
		p := &servertest.FixtureBuilder{T: t, S: s, IDs: map[string]int64{"ada": own.ID}}
		app := servertest.Must(s.Store.Account.Application(ctx, p.Set("ada", "application")["app"]))(t)
		ofApp := servertest.Must(s.Store.Account.AuthorizeImplicitly(ctx, oauth.Grant{Application: app, UserID: own.ID,
			Scopes: auth.Scopes{auth.Read, auth.Write}}))(t)
		reads := s.Client(s.Token("ada", auth.Read))
		for name, c := range map[string]struct {
			client *servertest.Client
			status int
			says   string
		}{
			"no token":       {s.Client(""), 401, "signing in is required"},
			"a wrong token":  {s.Client("meshyard_wrong"), 401, "token"},
			"write":          {s.Client(s.Token("ada", auth.Write)), 403, "lacks the scope read"},
			"an application": {s.Client(ofApp.Text), 403, "an application cannot"},
		} {
			if r := c.client.Get(archivePath).Want(t, c.status); !strings.Contains(string(r.Bytes), c.says) ||
				!strings.Contains(r.Header.Get("Content-Type"), "json") {
				t.Errorf("%s: got %s", name, r.Bytes)
			}
		}
		ada.Get(archivePath).Want(t, 200)
		if r := reads.Do(http.MethodHead, archivePath, nil).Want(t, 200); r.Header.Get("Content-Type") != "application/zip" ||
			len(r.Bytes) > 0 {
			t.Errorf("HEAD: %v, %d bytes", r.Header, len(r.Bytes))
		}
		reads.Do(http.MethodPost, archivePath, nil).Want(t, 404)

		b := s.Browser()
		b.Accept = acceptsPage
		signInFirst := s.URL + "/login?" + url.Values{"next": {"/settings"}}.Encode()
		if r := b.Get(archivePath).Want(t, 303); r.Header.Get("Location") != signInFirst {
			t.Errorf("without a session: to %s", r.Header.Get("Location"))
		}
		b.SignIn("ada", "a long password")
		b.Get(archivePath).Want(t, 200)
		for _, site := range []string{"cross-site", "same-site", "none"} {
			r := ada.Request(http.MethodGet, archivePath, nil)
			r.Header.Set("Accept", acceptsPage)
			r.Header.Set("Sec-Fetch-Site", site)
			for _, c := range b.Cookies(r.URL) {
				r.AddCookie(c)
			}
			if got := s.Client("").Send(r).Want(t, 303).Header.Get("Location"); got != s.URL+"/settings" {
				t.Errorf("%s: to %s", site, got)
			}
		}
		p.User("zoe")
		servertest.Must(s.Store.Moderation.SuspendUser(ctx, p.As("zoe"), "ada", "for the test"))(t)
		if r := b.Get(archivePath).Want(t, 303); r.Header.Get("Location") != signInFirst {
			t.Errorf("suspended: to %s", r.Header.Get("Location"))
		}
		reads.Get(archivePath).Want(t, 200) // a suspended user can still read
	})
}

// TestOwnArchiveWithoutContents checks that contents that the bucket has lost, or that are damaged,
// are listed in the manifest, and that the archive can be imported.
func TestOwnArchiveWithoutContents(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("Box")
		var ids []int64
		for i := range 3 {
			ids = append(ids, ada.Upload(fmt.Sprintf("%d.txt", i), fmt.Appendf(nil, "content %d", i)))
		}
		ada.Finalize("thing", thing, ids...).Want(t, 200)
		sums := servertest.RowsOf(t, s, "SELECT sha256 FROM files ORDER BY name")
		object := func(i int) string {
			return filepath.Join(servertest.Must(url.Parse(s.Settings.BucketURL))(t).Path, "files", sums[i])
		}
		if err := errors.Join(os.Remove(object(0)), replaceIn(object(1), "content", "tent")); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "ada.zip")
		if err := os.WriteFile(file, ada.Get(archivePath).Want(t, 200).Bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		r := servertest.Must(archive.Open(file))(t)
		defer r.Close()
		want := slices.Sorted(slices.Values(sums[:2]))
		if !slices.Equal(r.Missing, want) || r.Files.Count != 1 || r.Files.Bytes != int64(len("content 2")) {
			t.Errorf("the manifest: %+v, want missing %q", r.Manifest, want)
		}
		to := otherEngine(t)
		servertest.Must(to.Store.Archive.Admin().ImportArchive(context.Background(), r, archives.Import{}))(t)
		wantSound(t, to)
		if got := servertest.RowsOf(t, to, "SELECT sha256 FROM files ORDER BY name"); !slices.Equal(got,
			[]string{"", "", sums[2]}) {
			t.Errorf("the contents of the files: %q", got)
		}
	})
}

// TestOwnArchivesAtOnce checks that a user downloads one archive at a time, that a server sends
// only a few, and that a client that goes away makes room.
func TestOwnArchivesAtOnce(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		content := bytes.Repeat([]byte("more than the buffers of a connection can hold "), 1<<19)
		slow := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network,
			address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			if err == nil {
				err = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
			}
			return conn, err
		}}}
		user := func(name string) *servertest.Client {
			c := s.User(name)
			c.Finalize("thing", c.Thing("Box"), c.Upload("box.txt", content)).Want(t, 200)
			return c
		}
		begin := func(c *servertest.Client) io.Closer {
			r := c.Request(http.MethodGet, archivePath, nil)
			r.Header.Set("Authorization", "Bearer "+c.Token)
			response := servertest.Must(slow.Do(r))(t)
			if response.StatusCode != 200 {
				t.Fatalf("got %s", response.Status)
			}
			return response.Body
		}
		ada := user("ada")
		s.Password("ada", "a long password")
		b := s.Browser()
		b.Accept = acceptsPage
		b.SignIn("ada", "a long password")
		downloads := []io.Closer{begin(ada)}
		if r := ada.Get(archivePath).Want(t, 429); !strings.Contains(string(r.Bytes), "already being downloaded") ||
			r.Header.Get("Retry-After") != "60" {
			t.Errorf("a second download: %v, %s", r.Header, r.Bytes)
		}
		for languages, says := range map[string]string{"en": "Your archive is already being downloaded",
			"de": "Deine Daten werden schon heruntergeladen"} {
			b.Languages = languages
			if r := b.Get(archivePath).Want(t, 429); !strings.Contains(string(r.Bytes), says) ||
				!strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
				t.Errorf("a second download in %s: %s", languages, r.Bytes)
			}
		}
		for i := range 7 {
			downloads = append(downloads, begin(user(fmt.Sprintf("user%d", i))))
		}
		last := user("last")
		if r := last.Get(archivePath).Want(t, 503); !strings.Contains(string(r.Bytes), "other users are downloading") ||
			r.Header.Get("Retry-After") != "60" {
			t.Errorf("one download too many: %v, %s", r.Header, r.Bytes)
		}
		for _, d := range downloads {
			_ = d.Close()
		}
		for _, c := range []*servertest.Client{last, ada} {
			for deadline := time.Now().Add(time.Minute); c.Do(http.MethodHead, archivePath, nil).
				StatusCode != 200; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("downloads that were canceled count on")
				}
			}
		}
	}, func(c *config.Settings) { c.UploadLimit = 64 << 20 })
}
