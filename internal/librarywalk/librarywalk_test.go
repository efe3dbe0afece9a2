package librarywalk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// write creates empty files with the folders above them.
func write(t testing.TB, dir string, files ...string) {
	t.Helper()
	for _, name := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(name), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func open(t testing.TB, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// TestWalk compares the walk with the one of the standard library.
func TestWalk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 200 {
		write(t, dir, fmt.Sprintf("%d/%d/%d/a.stl", i%3, i%20, i), fmt.Sprintf("%d/b.stl", i%3))
	}
	write(t, dir, "@eaDir/x.jpg", "0/@eaDir/y.jpg")
	if err := os.Symlink("..", filepath.Join(dir, "0", "up")); err != nil {
		t.Fatal(err)
	}
	var want []string
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || file == dir {
			return err
		}
		name, _ := filepath.Rel(dir, file)
		if !d.IsDir() && !strings.Contains(name, "@eaDir") {
			info, _ := d.Info()
			want = append(want, fmt.Sprint(filepath.ToSlash(name), d.Type(), info.Size(), info.ModTime().UnixNano()))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	var mu sync.Mutex
	err = Walk(t.Context(), open(t, dir), func(name string) bool { return name == "@eaDir" }, func(d Dir) error {
		mu.Lock()
		defer mu.Unlock()
		for _, e := range d.Entries {
			if !e.Mode.IsDir() {
				got = append(got, fmt.Sprint(strings.TrimPrefix(d.Path+"/"+e.Name, "/"), e.Mode.Type(), e.Size, e.ModTime))
			}
		}
		return d.Err
	})
	slices.Sort(got)
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v: got %d files, want %d", err, len(got), len(want))
	}
	stop := errors.New("stop")
	if err := Walk(t.Context(), open(t, dir), func(string) bool { return false },
		func(Dir) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v, want the error of visit", err)
	}
}

// TestFingerprint checks what changes the fingerprint of a folder.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a.stl", "b/c.stl")
	root := open(t, dir)
	at := func() int64 { return Read(root, "").Fingerprint() }
	first := at()
	write(t, dir, "b/d.stl")
	if at() != first {
		t.Error("a file in a subfolder changed the fingerprint")
	}
	file := filepath.Join(dir, "a.stl")
	for name, change := range map[string]func() error{
		"the time of a file": func() error { return os.Chtimes(file, time.Time{}, time.Unix(1, 2)) },
		"the size of a file": func() error { return os.Truncate(file, 100) },
		"a new file":         func() error { return os.WriteFile(filepath.Join(dir, "e.stl"), nil, 0o600) },
		"a name":             func() error { return os.Rename(filepath.Join(dir, "b"), filepath.Join(dir, "f")) },
	} {
		before := at()
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if at() == before {
			t.Errorf("%s did not change the fingerprint", name)
		}
	}
}

// TestUnreadable checks that a folder that cannot be read does not end the walk.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("the user can read everything")
	}
	dir := t.TempDir()
	write(t, dir, "closed/a.stl", "open/b.stl")
	if err := os.Chmod(filepath.Join(dir, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	errs := map[string]bool{}
	err := Walk(t.Context(), open(t, dir), func(string) bool { return false }, func(d Dir) error {
		mu.Lock()
		defer mu.Unlock()
		errs[d.Path] = d.Err != nil
		return nil
	})
	if err != nil || !errs["closed"] || errs["open"] || len(errs) != 3 {
		t.Errorf("got %v, %v", errs, err)
	}
}

// BenchmarkWalk compares a walk of MESHYARD_TEST_LIBRARY_FILES files, 25 in a folder, with find.
func BenchmarkWalk(b *testing.B) {
	files, _ := strconv.Atoi(os.Getenv("MESHYARD_TEST_LIBRARY_FILES"))
	files = max(files, 100_000)
	dir := b.TempDir()
	for i := range files / 25 {
		folder := filepath.Join(dir, fmt.Sprintf("creator %d/collection %d/thing %d", i%100, i%1000, i))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			b.Fatal(err)
		}
		for j := range 25 {
			f, err := os.Create(filepath.Join(folder, fmt.Sprintf("part_%d_of_%d.stl", j, i)))
			if err != nil {
				b.Fatal(err)
			}
			f.Close()
		}
	}
	root := open(b, dir)
	var find, walk time.Duration
	var memory runtime.MemStats
	for b.Loop() {
		start := time.Now()
		if err := exec.Command("find", dir, "-printf", "%s %T@ %p\n").Run(); err != nil {
			b.Skip(err)
		}
		find += time.Since(start)
		start = time.Now()
		if err := Walk(b.Context(), root, func(string) bool { return false }, func(d Dir) error {
			_ = d.Fingerprint()
			return d.Err
		}); err != nil {
			b.Fatal(err)
		}
		walk += time.Since(start)
		runtime.ReadMemStats(&memory)
	}
	b.ReportMetric(find.Seconds()/walk.Seconds(), "times-find")
	b.ReportMetric(float64(files*b.N)/walk.Seconds(), "files/s")
	b.ReportMetric(float64(memory.Sys)/(1<<20), "MiB")
}
