package previews_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
	"github.com/meshyard/meshyard/test/servertest"
)

// killChildren kills the first n preview processes of a server, each as soon as it starts, until
// ctx ends.
func killChildren(ctx context.Context, s *servertest.Server, n int) {
	dir := strings.TrimPrefix(s.Settings.BucketURL, "file://")
	killed := make(map[int]bool)
	for len(killed) < n && ctx.Err() == nil {
		processes, _ := filepath.Glob("/proc/[0-9]*/fd/0")
		for _, input := range processes {
			content, err := os.Readlink(input)
			pid, _ := strconv.Atoi(strings.Split(input, "/")[2])
			if err == nil && strings.HasPrefix(content, dir) && !killed[pid] {
				killed[pid] = true
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// TestPreviewProcessIsKilled checks that a preview whose process is killed is tried again, and
// fails with a clear error after three kills. The server and other previews are not affected.
func TestPreviewProcessIsKilled(t *testing.T) {
	for _, c := range []struct {
		name  string
		kills int
	}{{"once", 1}, {"each time", 3}} {
		t.Run(c.name, func(t *testing.T) {
			servertest.Each(t, func(t *testing.T, s *servertest.Server) {
				ada := s.User("ada")
				thing := ada.Thing("Killed")
				id := ada.Upload("a.stl", meshtest.SphereSTL(150_000))
				go killChildren(t.Context(), s, c.kills)
				ada.Finalize("thing", thing, id).Want(t, 200)
				f := servertest.Settled(t, ada, id)
				p := f.Processing
				if c.kills == 1 {
					if p.State != "DONE" || p.Attempts != 2 || f.Mesh == nil {
						t.Errorf("got %+v, want it made by the second attempt", p)
					}
					return
				}
				if p.State != "FAILED" || p.Attempts != 3 || p.Error == nil ||
					*p.Error != "It was tried three times. The preview process was killed (signal: killed)." {
					t.Errorf("got %+v %v, want a failure with the reason after three attempts", p, p.Error)
				}
				other := ada.Upload("b.stl", servertest.Mesh(t, "hschendel_simple_bin.stl"))
				ada.Finalize("thing", thing, other).Want(t, 200)
				if f := servertest.Settled(t, ada, other); f.Processing.State != "DONE" {
					t.Errorf("the next preview: %+v", f.Processing)
				}
			}, servertest.Derives, func(s *config.Settings) { s.UploadLimit = 64 << 20 })
		})
	}
}
