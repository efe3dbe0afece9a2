package operation_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/pgtest"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestFullDisk checks that both APIs reject uploads to a full disk with a specific error, that the
// readiness probe of all parts fails, and that the server recovers when there is space again.
func TestFullDisk(t *testing.T) { withMounts(t, testFullDisk) }

// TestReadOnlyDisk checks that the readiness probe fails while the disk of a SQLite database is
// read-only, and the one of all parts also while that of a bucket folder is.
func TestReadOnlyDisk(t *testing.T) { withMounts(t, testReadOnlyDisk) }

// mountsRefused is the exit status of a child process that cannot mount file systems.
const mountsRefused = 77

// withMounts runs a test for both engines in the mount namespace of a child process, where it can
// mount file systems. This does not require root. The test gets the URL of a PostgreSQL database,
// or "" for SQLite. It is skipped if the system refuses namespaces or mounts.
func withMounts(t *testing.T, test func(t *testing.T, postgres string)) {
	const variable = "MESHYARD_TEST_MOUNTS"
	if database := os.Getenv(variable); database != "" {
		if err := tryMounts(t.TempDir()); err != nil {
			fmt.Print(err)
			os.Exit(mountsRefused)
		}
		t.Run("sqlite", func(t *testing.T) { test(t, "") })
		t.Run("postgres", func(t *testing.T) { test(t, database) })
		return
	}
	t.Parallel()
	database := pgtest.Database(t)
	var refused error
	for _, namespaces := range mountNamespaces() {
		child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		child.Env = append(os.Environ(), variable+"="+database)
		child.SysProcAttr = namespaces
		out, err := child.CombinedOutput()
		switch {
		case child.Process == nil: // the namespaces were refused
			refused = errors.Join(refused, err)
		case child.ProcessState.ExitCode() == mountsRefused:
			refused = errors.Join(refused, errors.New(string(out)))
		case err != nil:
			t.Fatalf("%v\n%s", err, out)
		default:
			return
		}
	}
	servertest.Refused(t, servertest.Mounts, refused)
}

// mountNamespaces returns the ways to create a mount namespace: root with CAP_SYS_ADMIN needs
// nothing else, and other users need a user namespace, in which they are root.
func mountNamespaces() (ways []*syscall.SysProcAttr) {
	if os.Getuid() == 0 {
		ways = append(ways, &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS})
	}
	return append(ways, &syscall.SysProcAttr{
		Unshareflags: syscall.CLONE_NEWNS,
		Cloneflags:   syscall.CLONE_NEWUSER,
		UidMappings:  []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings:  []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	})
}

// tryMounts mounts file systems on a folder as the tests do, and unmounts them. Some containers
// allow namespaces and refuse mounts.
func tryMounts(folder string) error {
	if err := bindReadOnly(folder); err != nil {
		return os.NewSyscallError("mount a folder read-only", err)
	}
	if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
		return os.NewSyscallError("unmount", err)
	}
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=1m"); err != nil {
		return os.NewSyscallError("mount a tmpfs", err)
	}
	return os.NewSyscallError("unmount", syscall.Unmount(folder, syscall.MNT_DETACH))
}

// bindReadOnly mounts a folder read-only over itself.
func bindReadOnly(folder string) error {
	if err := syscall.Mount(folder, folder, "", syscall.MS_BIND, ""); err != nil {
		return err
	}
	return syscall.Mount("", folder, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
}

// testReadOnlyDisk mounts the folder of the bucket, and then that of a SQLite database, read-only
// over itself.
func testReadOnlyDisk(t *testing.T, postgres string) {
	settings := servertest.Settings(t, "sqlite")
	files, rows := filepath.Join(t.TempDir(), "bucket"), t.TempDir()
	settings.BucketURL = "file://" + files
	settings.DatabaseURL = "sqlite:" + filepath.Join(rows, "meshyard.db")
	folders := []string{files, rows}
	if postgres != "" {
		settings.DatabaseURL, folders = postgres, folders[:1]
	}
	s := servertest.Run(t, settings)
	ada := s.User("ada")
	for _, folder := range folders {
		ada.Get("/readyz?all").Want(t, http.StatusOK)
		if err := bindReadOnly(folder); err != nil {
			t.Fatal(err)
		}
		part, status := "database", http.StatusServiceUnavailable
		if folder == files {
			part, status = "bucket", http.StatusOK
		}
		want := `{"status":"unavailable","failed":{"` + part + `":"unavailable"}}` + "\n"
		if r := ada.Get("/readyz?all"); r.StatusCode != http.StatusServiceUnavailable || string(r.Bytes) != want {
			t.Errorf("/readyz?all while %s is read-only: got %d %s, want 503 %s", folder, r.StatusCode, r.Bytes, want)
		}
		ada.Get("/readyz").Want(t, status)
		if err := syscall.Unmount(folder, 0); err != nil {
			t.Fatal(err)
		}
	}
	ada.Get("/readyz").Want(t, http.StatusOK)
}

// testFullDisk stores the bucket, and a SQLite database, on a small disk and fills it.
func testFullDisk(t *testing.T, postgres string) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=48m"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	settings := servertest.Settings(t, "sqlite")
	settings.BucketURL = "file://" + filepath.Join(disk, "bucket")
	settings.DatabaseURL = "sqlite:" + filepath.Join(disk, "meshyard.db")
	if postgres != "" {
		settings.DatabaseURL = postgres
	}
	servertest.WithMetrics(&settings)
	s := servertest.Run(t, settings)
	ada := s.User("ada")
	thing := ada.Thing("One")
	stl := servertest.Mesh(t, "numpystl_HalfDonut_bin.stl")
	ada.Upload("before.stl", stl)
	ada.Get("/readyz?all").Want(t, http.StatusOK)

	staged := servertest.Stage(t, ada, "/things/"+servertest.ID(thing)+"/files", "staged.stl")

	l := &timeline{t: t, server: s}
	l.scrape(scrapesBefore)
	filler := filepath.Join(disk, "filler")
	fill(t, filler)
	if r := ada.Get("/readyz?all").Want(t, http.StatusServiceUnavailable); !strings.Contains(string(r.Bytes),
		`"bucket":"insufficient storage"`) {
		t.Errorf("/readyz?all: got %s, want it to name the full disk of the bucket", r.Bytes)
	}
	status := http.StatusOK // PostgreSQL is elsewhere
	if postgres == "" {
		status = http.StatusServiceUnavailable
	}
	ada.Get("/readyz").Want(t, status)
	if text := servertest.Scrape(t, s); !strings.Contains(text,
		"\nmeshyard_unready{reason=\"insufficient_storage\"} 1\n") ||
		!strings.Contains(text, "\nmeshyard_unready{reason=\"unavailable\"} 0\n") ||
		!strings.Contains(text, "\nmeshyard_bucket_free_bytes ") ||
		strings.Contains(text, "\nmeshyard_database_free_bytes ") != (postgres == "") {
		t.Error("the metrics do not say that the disk is full")
	}
	ada.PostForm("/files/0/uploadFile", nil, "file", "rest.stl", stl).Want(t, http.StatusInsufficientStorage)
	if r := ada.GraphQLUpload(uploadAny, servertest.Object{"file": nil}, "file", "graphql.stl",
		stl); r.Code() != "INSUFFICIENT_STORAGE" {
		t.Errorf("GraphQL upload: got %+v, want INSUFFICIENT_STORAGE", r)
	}
	staged.Post(ada, stl).Want(t, http.StatusInsufficientStorage)
	if postgres == "" {
		// The database journal still has space for some changes.
		body := map[string]any{"name": "Two", "license": "cc", "category": "Tools", "description": strings.Repeat("long ",
			10_000)}
		status := http.StatusOK
		for range 400 {
			if status = ada.Do(http.MethodPost, "/things/", body).StatusCode; status != http.StatusOK {
				break
			}
		}
		if status != http.StatusInsufficientStorage {
			t.Errorf("things on a full disk: got %d, want 507", status)
		}
	}
	ada.Get("/things/"+servertest.ID(thing)).Want(t, http.StatusOK)
	if _, err := database.Open(t.Context(), "sqlite:"+filepath.Join(disk, "other.db")); err == nil ||
		!strings.Contains(err.Error(), " bytes are available, fewer than 16777216: no space left on device (") {
		t.Errorf("open a database: got %v, want an error about the space", err)
	}
	l.scrape(scrapesDuring)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	l.scrape(scrapesAfter)
	l.fire("MeshyardStorageFull", "MeshyardBucketFailing")
	ada.Get("/readyz?all").Want(t, http.StatusOK)
	ada.Upload("after.stl", stl)
	staged.Post(ada, stl).Want(t, http.StatusOK)
	ada.Do(http.MethodPost, staged.Fields["success_action_redirect"], nil).Want(t, http.StatusOK)
	ada.Thing("Three")
}

// fill creates a file that uses up the free space of its disk.
func fill(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := bytes.Repeat([]byte("x"), 4096); err == nil; {
		_, err = f.Write(block)
	}
}
