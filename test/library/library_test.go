package library_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models/fsck"
	"github.com/meshyard/meshyard/models/library"
	"github.com/meshyard/meshyard/test/servertest"
)

// world is a server with a library.
type world struct {
	*servertest.Server
	t     *testing.T
	dir   string
	staff *servertest.Client
}

// each runs a test on both engines, with an empty library named lib.
func each(t *testing.T, test func(w *world), change ...func(*config.Settings)) {
	t.Helper()
	servertest.Sequential(t)
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			w := &world{t: t, dir: t.TempDir()}
			w.Server = servertest.Start(t, engine, append(change, func(s *config.Settings) {
				s.Library = []config.Library{{Name: "lib", Dir: w.dir}}
			})...)
			w.staff = w.Administrator()
			test(w)
		})
	}
}

// write writes files into the library, with times in the past.
func (w *world) write(files map[string]string) {
	w.t.Helper()
	for name, text := range files {
		file := filepath.Join(w.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) rename(from, to string) {
	w.t.Helper()
	if err := os.Rename(filepath.Join(w.dir, from), filepath.Join(w.dir, to)); err != nil {
		w.t.Fatal(err)
	}
}

// scan scans the library and checks what it did.
func (w *world) scan(want library.Counts) {
	w.t.Helper()
	got, err := w.Store.Library.Scan(w.t.Context(), "lib", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	want.FilesFound, want.FilesRead = got.FilesFound, max(got.FilesRead, want.FilesRead)
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Error(diff)
	}
}

// read reads the files that are new or have changed.
func (w *world) read() {
	w.t.Helper()
	if _, err := w.Store.Library.Read(w.t.Context(), nil); err != nil {
		w.t.Fatal(err)
	}
}

type file struct {
	ID, Path, Kind, SHA256, ContentType string
	IsAvailable, IsMissing              bool
	PublicURL                           string
	LikeCount                           int
}

type thing struct {
	ID, Name, State string
	LikeCount       int64
	Files           []file
}

// things returns the things of the owner by name.
func (w *world) things() map[string]thing {
	w.t.Helper()
	var r struct {
		Me struct {
			Things struct{ Nodes []thing }
		}
	}
	w.staff.Query(`{ me { things(first: 50) { nodes { id name state likeCount
		files { id path kind sha256 contentType isAvailable isMissing publicUrl } } } } }`, nil, &r)
	found := map[string]thing{}
	for _, t := range r.Me.Things.Nodes {
		found[t.Name] = t
	}
	return found
}

func (t thing) file(path string) file {
	for _, f := range t.Files {
		if f.Path == path {
			return f
		}
	}
	return file{}
}

// listing describes everything in the library.
func (w *world) listing() (lines []string) {
	w.t.Helper()
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprint(path, info.Size(), info.Mode(), info.ModTime()))
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return lines
}

// protect removes all permissions to write.
func (w *world) protect() {
	w.t.Helper()
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			w.t.Cleanup(func() { _ = os.Chmod(path, 0o755) })
			return os.Chmod(path, 0o555)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// TestScan checks that a scan creates drafts whose files are served from where they lie, that a
// second scan finds nothing new, and that nothing is written to the library.
func TestScan(t *testing.T) {
	each(t, func(w *world) {
		w.write(map[string]string{
			"Dragon/Supported/dragon.stl": "solid supported", "Dragon/Unsupported/dragon.stl": "solid unsupported",
			"Dragon/render.png": string(servertest.Image(t, 1)), "Dragon/dragon.lys": "lychee", "Dragon/guide.pdf": "%PDF-1.4",
			"loose.stl": "solid loose", "notes.xyz": "nothing", ".hidden/x.stl": "solid x",
		})
		w.protect()
		before := w.listing()
		w.scan(library.Counts{ThingsAdded: 2, FilesAdded: 6})
		unread := w.things()
		if got := unread["Dragon"].file("Supported/dragon.stl"); !got.IsAvailable || got.SHA256 != "" ||
			got.Kind != "MODEL" || got.ContentType != "model/stl" {
			t.Errorf("before it was read: got %+v", got)
		}
		w.checkBytes(unread["Dragon"].file("Supported/dragon.stl"), "solid supported")
		w.read()
		things := w.things()
		dragon := things["Dragon"]
		if dragon.State != "DRAFT" || things["loose"].State != "DRAFT" || len(things) != 2 || len(dragon.Files) != 5 ||
			dragon.Files[0].Path != "render.png" {
			t.Errorf("got %+v", things)
		}
		for path, text := range map[string]string{"Supported/dragon.stl": "solid supported",
			"Unsupported/dragon.stl": "solid unsupported", "guide.pdf": "%PDF-1.4"} {
			f := dragon.file(path)
			if len(f.SHA256) != 64 || !f.IsAvailable || f.IsMissing {
				t.Errorf("%s: got %+v", path, f)
			}
			w.checkBytes(f, text)
		}
		w.scan(library.Counts{})
		if diff := cmp.Diff(before, w.listing()); diff != "" {
			t.Errorf("the library has changed: %s", diff)
		}
		if _, err := os.Stat(filepath.Join(w.Settings.Data, "bucket", "files")); err != nil {
			t.Error(err)
		}
		if stored, _ := filepath.Glob(filepath.Join(w.Settings.Data, "bucket", "files", "*")); len(stored) != 0 {
			t.Errorf("the bucket has copies: %q", stored)
		}
		w.check()
		var problems []string
		if err := w.Store.Library.Problems(t.Context(), func(p library.Problem) error {
			problems = append(problems, p.Path)
			return nil
		}); err != nil || !cmp.Equal(problems, []string{"notes.xyz"}) {
			t.Errorf("problems: got %q, %v", problems, err)
		}
		archive := w.archive(dragon.ID)
		if got := archive["Supported/dragon.stl"]; got != "solid supported" {
			t.Errorf("the ZIP has %q", archive)
		}
	})
}

// check checks that the database and the bucket are consistent.
func (w *world) check() {
	w.t.Helper()
	if _, err := w.Store.Fsck.Check(w.t.Context(), fsck.Options{Rehash: true},
		func(p fsck.Problem) { w.t.Error(p) }); err != nil {
		w.t.Error(err)
	}
}

// checkBytes checks the content at the URL of a file.
func (w *world) checkBytes(f file, want string) {
	w.t.Helper()
	if f.PublicURL == "" {
		w.t.Fatalf("there is no such file, want one with %q", want)
	}
	r := w.Client("").Get(f.PublicURL).Want(w.t, http.StatusOK)
	if string(r.Bytes) != want {
		w.t.Errorf("%s: got %q, want %q", f.Path, r.Bytes, want)
	}
	request := w.Client("").Request("GET", f.PublicURL, nil)
	request.Header.Set("Range", "bytes=0-1")
	if r := w.Client("").Send(request); r.StatusCode != http.StatusPartialContent || string(r.Bytes) != want[:2] {
		w.t.Errorf("%s: a range is %d with %q", f.Path, r.StatusCode, r.Bytes)
	}
}

// archive returns the files in the ZIP archive of a thing.
func (w *world) archive(id string) map[string]string {
	w.t.Helper()
	r := w.staff.Get("/thing:"+id+"/zip").Want(w.t, http.StatusOK)
	z, err := zip.NewReader(bytes.NewReader(r.Bytes), int64(len(r.Bytes)))
	if err != nil {
		w.t.Fatal(err)
	}
	found := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			w.t.Fatal(err)
		}
		var text bytes.Buffer
		if _, err := text.ReadFrom(r); err != nil {
			w.t.Fatal(err)
		}
		_, path, _ := strings.Cut(f.Name, "/")
		found[path] = text.String()
	}
	return found
}

// TestRescan checks changes of a library between scans: new, changed, renamed and missing files,
// and files that come back.
func TestRescan(t *testing.T) {
	each(t, func(w *world) {
		w.write(map[string]string{
			"Dragon/dragon.stl": "solid dragon", "Dragon/wing.stl": "solid wing", "Gear/gear.stl": "solid gear",
			"Gear/spare.stl":  "solid spare",
			"Set/Cup/cup.stl": "solid cup",
		})
		w.scan(library.Counts{ThingsAdded: 3, FilesAdded: 5})
		w.read()
		before := w.things()
		dragon := before["Dragon"]
		w.staff.Query(`mutation ($id: ID!) { updateThing(input: { id: $id, name: "Red dragon", tags: ["red"] }) { thing { id } } }`, map[string]any{"id": dragon.ID}, new(any))
		w.staff.Query(`mutation ($id: ID!) { publishThing(input: { id: $id, acceptUnknownLicense: true }) { thing { id } } }`,
			map[string]any{"id": dragon.ID}, new(any))
		w.User("bob").Query(`mutation ($id: ID!) { likeThing(input: { id: $id }) { thing { id } } }`,
			map[string]any{"id": dragon.ID}, new(any))

		w.rename("Dragon", "Old dragon")
		w.scan(library.Counts{FilesMoved: 2})
		after := w.things()
		if got := after["Red dragon"]; got.ID != dragon.ID || got.LikeCount != 1 || len(got.Files) != 2 ||
			got.file("dragon.stl").ID != dragon.file("dragon.stl").ID || got.State != "PUBLISHED" {
			t.Errorf("after its folder was renamed: got %+v, want %+v", got, dragon)
		}
		w.checkBytes(after["Red dragon"].file("wing.stl"), "solid wing")

		w.write(map[string]string{"Gear/gear.stl": "solid other gear", "Gear/more.stl": "solid more"})
		w.changed(after["Gear"].file("gear.stl"))
		w.scan(library.Counts{FilesAdded: 1, FilesChanged: 1})
		w.read()
		gear := w.things()["Gear"]
		if got := gear.file("gear.stl"); got.ID != before["Gear"].file("gear.stl").ID ||
			got.SHA256 == before["Gear"].file("gear.stl").SHA256 {
			t.Errorf("changed: got %+v", got)
		}
		w.checkBytes(gear.file("gear.stl"), "solid other gear")
		w.checkBytes(gear.file("more.stl"), "solid more")

		w.rename("Set", "../gone")
		w.rename("Gear/spare.stl", "../gone-spare")
		w.scan(library.Counts{FilesMissing: 2})
		missing := w.things()
		for _, f := range []file{missing["Gear"].file("spare.stl"), missing["Cup"].file("cup.stl")} {
			if !f.IsMissing || f.IsAvailable {
				t.Errorf("missing: got %+v", f)
			}
			w.Client("").Get(f.PublicURL).Want(t, http.StatusNotFound)
		}
		w.scan(library.Counts{})
		w.rename("../gone", "Set")
		w.rename("../gone-spare", "Gear/spare.stl")
		w.scan(library.Counts{})
		back := w.things()
		if got := back["Cup"]; got.ID != before["Cup"].ID || got.file("cup.stl").IsMissing || got.file("cup.stl").
			ID != before["Cup"].file("cup.stl").ID {
			t.Errorf("back: got %+v", got)
		}
		if f := back["Gear"].file("spare.stl"); f.IsMissing {
			t.Errorf("back: got %+v", f)
		}

		w.staff.Query(`mutation ($id: ID!) { deleteThing(input: { id: $id }) { deletedId } }`,
			map[string]any{"id": back["Cup"].ID}, new(any))
		w.write(map[string]string{"Set/Cup/saucer.stl": "solid saucer"})
		w.scan(library.Counts{})
		if got := w.things(); got["Cup"].ID != "" {
			t.Errorf("a thing that was deleted came back: %+v", got["Cup"])
		}
		w.check()
		if _, err := w.Store.Maintenance.CollectGarbage(t.Context(), 0, false); err != nil {
			t.Error(err)
		}
		w.checkBytes(w.things()["Gear"].file("spare.stl"), "solid spare")
	})
}

// TestMoved checks that things and files that were moved are recognized by their contents, although
// their times and names are new, that they keep their ids and likes, and that copies are new files.
func TestMoved(t *testing.T) {
	each(t, func(w *world) {
		w.write(map[string]string{
			"Box/box.stl": "solid box", "Box/lid.stl": "solid lid", "Cup/cup.stl": "solid cup", "Cup/saucer.stl": "solid saucer",
			"Vase/vase.stl": "solid vase",
		})
		w.scan(library.Counts{ThingsAdded: 3, FilesAdded: 5})
		w.read()
		before := w.things()
		w.staff.Query(`mutation ($id: ID!) { publishThing(input: { id: $id, acceptUnknownLicense: true }) { thing { id } } }`,
			map[string]any{"id": before["Box"].ID}, new(any))
		w.User("bob").Query(`mutation ($id: ID!) { likeThing(input: { id: $id }) { thing { id } } }`,
			map[string]any{"id": before["Box"].ID}, new(any))

		// A program copies the folder, so that the times change, and renames a file.
		if err := os.RemoveAll(filepath.Join(w.dir, "Box")); err != nil {
			t.Fatal(err)
		}
		w.write(map[string]string{"Kept/My box/box v2.stl": "solid box", "Kept/My box/lid.stl": "solid lid"})
		w.scan(library.Counts{FilesMoved: 2})
		after := w.things()
		if got := after["Box"]; got.ID != before["Box"].ID || got.LikeCount != 1 || got.file("box v2.stl").
			ID != before["Box"].file("box.stl").ID || got.file("box v2.stl").SHA256 == "" {
			t.Errorf("a copied folder: got %+v, want %+v", got, before["Box"])
		}

		// A single file is moved to another thing, in both directions of the order of paths.
		w.rename("Cup/saucer.stl", "Vase/dish.stl")
		w.rename("Vase/vase.stl", "Cup/vase.stl")
		w.scan(library.Counts{FilesMoved: 2})
		after = w.things()
		if got := after["Vase"]; len(got.Files) != 1 || got.file("dish.stl").ID != before["Cup"].file("saucer.stl").ID {
			t.Errorf("a file in another thing: got %+v", got)
		}
		if got := after["Cup"]; len(got.Files) != 2 || got.file("vase.stl").ID != before["Vase"].file("vase.stl").ID ||
			got.file("vase.stl").IsMissing {
			t.Errorf("a file in another thing: got %+v", got)
		}
		w.checkBytes(after["Cup"].file("vase.stl"), "solid vase")

		// A file comes back elsewhere after a scan has found it missing; a copy is a new file.
		w.rename("Cup/cup.stl", "../cup.stl")
		w.scan(library.Counts{FilesMissing: 1})
		w.wantProblem("MISSING_FILE Cup cup.stl")
		w.rename("../cup.stl", "Vase/cup.stl")
		w.write(map[string]string{"Vase/copy of dish.stl": "solid saucer"})
		w.scan(library.Counts{FilesMoved: 1, FilesAdded: 1})
		after = w.things()
		if got := after["Vase"]; len(got.Files) != 3 || got.file("cup.stl").ID != before["Cup"].file("cup.stl").ID ||
			got.file("dish.stl").ID != before["Cup"].file("saucer.stl").ID {
			t.Errorf("a file that came back: got %+v", got)
		}
		w.wantProblem("")
		w.scan(library.Counts{})
		w.read()
		w.check()
	})
}

// wantProblem checks which file is missing; "": none.
func (w *world) wantProblem(want string) {
	w.t.Helper()
	var r struct {
		Problems struct {
			Nodes []struct {
				Kind, Message string
				Thing         struct{ Name string }
				File          struct{ Name string }
			}
		}
	}
	w.staff.Query(`{ problems(kinds: [MISSING_FILE]) { nodes { kind message thing { name } file { name } } } }`, nil, &r)
	got := ""
	for _, p := range r.Problems.Nodes {
		got += p.Kind + " " + p.Thing.Name + " " + p.File.Name
	}
	if got != want {
		w.t.Errorf("problems: got %q, want %q", got, want)
	}
}

// changed checks that a file that has changed since the last scan is not served.
func (w *world) changed(f file) {
	w.t.Helper()
	if r := w.Client("").Get(f.PublicURL).Want(w.t, http.StatusConflict); !strings.Contains(string(r.Bytes),
		"has changed in its library") {
		w.t.Errorf("got %s", r.Bytes)
	}
}

// TestPreview checks the preview of a model in a library.
func TestPreview(t *testing.T) {
	each(t, func(w *world) {
		w.write(map[string]string{"Box/box.stl": string(servertest.Mesh(t, "hschendel_simple_bin.stl"))})
		w.scan(library.Counts{ThingsAdded: 1, FilesAdded: 1})
		w.read()
		box := w.things()["Box"]
		f := servertest.Settled(t, w.staff, servertest.Atoi(t, box.Files[0].ID))
		if f.Processing.State != "READY" && f.Processing.State != "DONE" || f.Mesh == nil || f.ThreejsURL == nil {
			t.Fatalf("got %+v", f)
		}
		servertest.Fetch(t, w.Server, *f.ThreejsURL)
		w.rename("Box", "../missing-box")
		if _, err := w.Store.Library.Scan(t.Context(), "lib", nil); err == nil || !strings.Contains(err.Error(), "is empty") {
			t.Errorf("the folder is empty: got %v", err)
		}
		w.rename("../missing-box", "Box")
	}, servertest.Derives)
}

// TestEscape checks that no symbolic link leads out of a library.
func TestEscape(t *testing.T) {
	each(t, func(w *world) {
		secret := filepath.Join(t.TempDir(), "secret.stl")
		if err := os.WriteFile(secret, []byte("solid secret"), 0o600); err != nil {
			t.Fatal(err)
		}
		w.write(map[string]string{"Box/box.stl": "solid box", "Box/odd \xff%.stl": "solid odd"})
		if err := os.Symlink(secret, filepath.Join(w.dir, "Box", "link.stl")); err != nil {
			t.Fatal(err)
		}
		w.scan(library.Counts{ThingsAdded: 1, FilesAdded: 2})
		box := w.things()["Box"]
		if len(box.Files) != 2 {
			t.Fatalf("got %+v", box.Files)
		}
		for _, f := range box.Files {
			if f.Path != "box.stl" {
				w.checkBytes(f, "solid odd")
			}
		}
		// The file is replaced by a link to another one of the same size and time.
		info, err := os.Stat(filepath.Join(w.dir, "Box", "box.stl"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(secret, []byte("solid foo"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(secret, time.Time{}, info.ModTime()); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(w.dir, "Box", "box.stl")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(secret, filepath.Join(w.dir, "Box", "box.stl")); err != nil {
			t.Fatal(err)
		}
		w.Client("").Get(box.file("box.stl").PublicURL).Want(t, http.StatusNotFound)
	})
}

// TestGraphQL checks what administrators see of libraries, the plan of a scan, and a requested one.
func TestGraphQL(t *testing.T) {
	each(t, func(w *world) {
		w.write(map[string]string{"Fire/Dragon/Supported/dragon.stl": "solid dragon",
			"Fire/Dragon/Unsupported/dragon.stl": "solid bare", "Fire/Dragon/LICENSE.txt": "CC-BY-4.0",
			"Fire/Box/box.stl": "solid", "notes.xyz": "nothing"})
		const state = `name folder thingCount fileCount missingCount unreadCount skippedCount isScanning
			lastScan { finishedAt error found added changed moved missing skipped thingsAdded read progress filesPerSecond remainingSeconds }`
		var planned struct {
			ScanLibrary struct {
				Plan struct {
					ThingCount, FileCount, SkippedCount int
					Things                              []struct {
						Path, Name, License   string
						FileCount, ModelCount int
						PictureCount          int
						Collection            []string
						Files                 []struct{ Path, Kind, Variant string }
					}
					Skipped []struct{ Path, Reason string }
				}
			}
		}
		w.staff.Query(`mutation { scanLibrary(input: { name: "lib", dryRun: true }) { library { `+state+` }
			plan { thingCount fileCount skippedCount things { path name license collection fileCount modelCount pictureCount files { path kind variant isCover } } skipped { path reason } } } }`, nil, &planned)
		p := planned.ScanLibrary.Plan
		if p.ThingCount != 2 || p.FileCount != 4 || p.SkippedCount != 1 || p.Skipped[0].Path != "notes.xyz" ||
			len(p.Things) != 2 {
			t.Fatalf("plan: got %+v", p)
		}
		dragon := p.Things[1]
		want := "[{LICENSE.txt DOCUMENT } {Supported/dragon.stl MODEL Supported} {Unsupported/dragon.stl MODEL Unsupported}]"
		if dragon.Path != "Fire/Dragon" || !slices.Equal(dragon.Collection, []string{"Fire"}) || dragon.ModelCount != 2 ||
			fmt.Sprint(dragon.Files) != want {
			t.Errorf("plan: got %+v", dragon)
		}
		w.staff.Query(`mutation { scanLibrary(input: { name: "lib" }) { library { `+state+` } plan { thingCount } } }`, nil,
			new(any))
		var r struct {
			Libraries []struct {
				Name, Folder                                     string
				ThingCount, FileCount, UnreadCount, SkippedCount int
				IsScanning                                       bool
				LastScan                                         *struct {
					FinishedAt                         *string
					Found, Added, ThingsAdded, Skipped int
					Read                               int
					Progress, FilesPerSecond           float64
					RemainingSeconds                   *int
				}
			}
		}
		for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
			w.staff.Query(`{ libraries { `+state+` } }`, nil, &r)
			if l := r.Libraries[0]; !l.IsScanning && l.UnreadCount == 0 && l.FileCount > 0 || time.Now().After(end) {
				break
			}
		}
		if l := r.Libraries[0]; len(r.Libraries) != 1 || l.Name != "lib" || l.Folder != w.dir || l.ThingCount != 2 ||
			l.FileCount != 4 || l.SkippedCount != 1 ||
			l.LastScan == nil || l.LastScan.FinishedAt == nil || l.LastScan.Found != 5 || l.LastScan.Added != 4 ||
			l.LastScan.ThingsAdded != 2 ||
			l.LastScan.Read != 4 || l.LastScan.Progress != 1 || l.LastScan.FilesPerSecond <= 0 ||
			l.LastScan.RemainingSeconds != nil {
			t.Errorf("got %+v", r.Libraries)
		}
		if code := w.staff.GraphQL(`mutation { scanLibrary(input: { name: "other" }) { plan { thingCount } } }`, nil).
			Code(); code != "NOT_FOUND" {
			t.Errorf("another library: got %s", code)
		}
		bob := w.User("bob")
		for _, document := range []string{`{ libraries { name } }`,
			`mutation { scanLibrary(input: { name: "lib", dryRun: true }) { plan { thingCount } } }`} {
			if code := bob.GraphQL(document, nil).Code(); code != "FORBIDDEN" {
				t.Errorf("%s by a member: got %s", document, code)
			}
		}
	})
}

// TestSearch checks that search finds new files of a published thing of a library.
func TestSearch(t *testing.T) {
	each(t, func(w *world) {
		w.write(map[string]string{"Dragon/dragon.stl": "solid dragon", "Dragon/LICENSE.txt": "CC0-1.0"})
		w.scan(library.Counts{ThingsAdded: 1, FilesAdded: 2})
		if state := w.things()["Dragon"].State; state != "PUBLISHED" {
			t.Errorf("got %s", state)
		}
		w.write(map[string]string{"Dragon/part_14_gear.stl": "solid part"})
		w.scan(library.Counts{FilesAdded: 1})
		var r struct {
			Search struct{ TotalCount int }
		}
		w.Client("").Query(`{ search(query: "part_14_gear", first: 1) { totalCount } }`, nil, &r)
		if r.Search.TotalCount != 1 {
			t.Errorf("got %d things", r.Search.TotalCount)
		}
	}, func(s *config.Settings) { s.LibraryPublish = true })
}

// TestWatch checks that a server scans a library soon after a change in a new folder.
func TestWatch(t *testing.T) {
	each(t, func(w *world) {
		wait := func(name string, files int) {
			t.Helper()
			for end := time.Now().Add(time.Minute); len(w.things()[name].Files) != files; time.Sleep(200 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("got %+v", w.things())
				}
			}
		}
		w.write(map[string]string{"Set/Dragon/dragon.stl": "solid dragon"})
		wait("Dragon", 1)
		w.write(map[string]string{"Set/Dragon/wing.stl": "solid wing"})
		wait("Dragon", 2)
	}, func(s *config.Settings) { s.LibraryInterval = time.Hour })
}
