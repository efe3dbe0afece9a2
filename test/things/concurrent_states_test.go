package things_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestFinalizeTogether checks that fifty clients can finalize the same uploads to the same thing:
// all succeed, and the files exist once.
func TestFinalizeTogether(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		stl := servertest.Mesh(t, "hschendel_simple_bin.stl")
		thing := ada.Thing("One")
		ids := []int64{ada.Upload("a.stl", stl), ada.Upload("b.stl", stl),
			ada.Upload("c.stl", servertest.Mesh(t, "hschendel_simple_ascii.stl"))}
		for i, status := range servertest.Together(50, func(i int) int {
			if i%2 == 0 {
				return ada.Finalize("thing", thing, ids...).StatusCode
			}
			return ada.Finalize("thing", thing, ids[2], ids[1], ids[0]).StatusCode
		}) {
			if status != http.StatusOK {
				t.Errorf("client %d: %d, want 200", i, status)
			}
		}
		var files []servertest.FileSchema
		ada.Get(fmt.Sprintf("/things/%d/files", thing)).Want(t, 200, &files)
		if len(files) != 3 {
			t.Errorf("%d files on the thing, want 3", len(files))
		}
		servertest.NothingLeft(t, s, 3)
	})
}

// TestFinalizeToDifferentThings checks fifty clients that finalize the same uploads to different
// things: one succeeds, and the others get a conflict.
func TestFinalizeToDifferentThings(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		stl := servertest.Mesh(t, "hschendel_simple_bin.stl")
		ids := []int64{ada.Upload("a.stl", stl), ada.Upload("b.stl", stl)}
		things := make([]int64, 10)
		for i := range things {
			things[i] = ada.Thing(fmt.Sprint("Thing ", i))
		}
		won := make(map[int64]bool)
		for i, status := range servertest.Together(50, func(i int) int {
			return ada.Finalize("thing", things[i%10], ids...).
				StatusCode
		}) {
			switch status {
			case http.StatusOK:
				won[things[i%10]] = true
			case http.StatusBadRequest:
			default:
				t.Errorf("client %d: %d, want 200 or 400", i, status)
			}
		}
		holding := 0
		for _, thing := range things {
			var files []servertest.FileSchema
			ada.Get(fmt.Sprintf("/things/%d/files", thing)).Want(t, 200, &files)
			if len(files) > 0 {
				holding++
			}
			if (len(files) == 2) != won[thing] || len(files) == 1 {
				t.Errorf("thing %d has %d files, and its clients got %v", thing, len(files), won[thing])
			}
		}
		if holding != 1 {
			t.Errorf("%d things hold the files, want 1", holding)
		}
		servertest.NothingLeft(t, s, 2)
	})
}

// TestFinalizeAgainstDelete checks a concurrent delete and finalization of the same upload: one
// succeeds, and its response is correct.
func TestFinalizeAgainstDelete(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("One")
		finalized := 0
		for range 20 {
			id := ada.Upload("a.stl", servertest.Mesh(t, "hschendel_simple_bin.stl"))
			ok := servertest.Together(2, func(i int) bool {
				if i == 0 {
					return ada.Finalize("thing", thing, id).StatusCode == http.StatusOK
				}
				return ada.GraphQL(`mutation ($id: ID!) { deletePendingUpload(input: {id: $id}) { deletedId } }`,
					map[string]any{"id": id}).Code() == ""
			})
			if ok[0] == ok[1] {
				t.Errorf("file %d: finalized %v, deleted %v", id, ok[0], ok[1])
			}
			if ok[0] {
				finalized++
				ada.Get(fmt.Sprintf("/files/%d/download", id)).Want(t, http.StatusFound)
			} else {
				ada.Get(fmt.Sprintf("/files/%d", id)).Want(t, http.StatusNotFound)
			}
		}
		// If the delete came first, the content may have been promoted already. Then garbage collection
		// removes it.
		if _, err := s.Store.Maintenance.CollectGarbage(context.Background(), 0, false); err != nil {
			t.Fatal(err)
		}
		servertest.NothingLeft(t, s, finalized)
	})
}

// TestExpiry checks that a pending upload expires by itself, and a finalized file does not.
func TestExpiry(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		stl := servertest.Mesh(t, "hschendel_simple_bin.stl")
		thing := ada.Thing("One")
		kept := ada.Upload("kept.stl", stl)
		ada.Finalize("thing", thing, kept).Want(t, 200)
		left := ada.Upload("left.stl", stl)
		if status := ada.Get(fmt.Sprintf("/files/%d", left)).StatusCode; status != 200 {
			t.Fatalf("a new upload returns %d", status)
		}
		db := servertest.OpenDB(t, s)
		for deadline := time.Now().Add(servertest.Hung); ; time.Sleep(50 * time.Millisecond) {
			var rows int
			if err := db.SQL().QueryRow("SELECT count(*) FROM files").Scan(&rows); err != nil {
				t.Fatal(err)
			}
			if rows == 1 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d rows of files, and no job has expired one", rows)
			}
		}
		ada.Get(fmt.Sprintf("/files/%d", left)).Want(t, 404)
		ada.Finalize("thing", thing, left).Want(t, 404)
		ada.Get(fmt.Sprintf("/files/%d/download", kept)).Want(t, http.StatusFound)
		servertest.NothingLeft(t, s, 1)
	}, func(c *config.Settings) { c.PendingTTL = 5 * time.Second })
}

// TestFinalizeAgainstExpiry checks that finalizations that race with the expiry of the same uploads
// never lose a file that was reported as finalized.
func TestFinalizeAgainstExpiry(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("One")
		finalized := 0
		for i := range 15 {
			id := ada.Upload("a.stl", fmt.Appendf(nil, "solid %d\nendsolid\n", i))
			wait := 300*time.Millisecond - time.Duration(i%10)*3*time.Millisecond
			status := servertest.Together(2, func(who int) int {
				time.Sleep(wait)
				if who == 0 {
					return ada.Finalize("thing", thing, id).StatusCode
				}
				for range 20 {
					if err := s.Store.Uploads.ExpireUpload(context.Background(), id); err != nil {
						t.Error(err)
					}
				}
				return 0
			})[0]
			switch status {
			case http.StatusOK:
				finalized++
				to := ada.Get(fmt.Sprintf("/files/%d/download", id)).Want(t, http.StatusFound).Header.Get("Location")
				ada.Get(to).Want(t, http.StatusOK)
			case http.StatusNotFound:
			default:
				t.Errorf("file %d: %d, want 200 or 404", id, status)
			}
		}
		t.Logf("%d of 15 were finalized in time", finalized)
		if _, err := s.Store.Maintenance.CollectGarbage(context.Background(), 0, false); err != nil {
			t.Fatal(err)
		}
		servertest.NothingLeft(t, s, finalized)
	}, func(c *config.Settings) { c.PendingTTL = 300 * time.Millisecond })
}

// TestFinalizeAgainstCollector checks that files keep their content if garbage collection without a
// grace period removes contents that a finalization has just promoted before its transaction.
func TestFinalizeAgainstCollector(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("One")
		ids := make([]int64, 40)
		for i := range ids {
			ids[i] = ada.Upload("a.stl", fmt.Appendf(nil, "solid %d\nendsolid\n", i/2)) // each content twice
		}
		ctx, stop := context.WithCancel(context.Background())
		var collector sync.WaitGroup
		collector.Go(func() {
			for ctx.Err() == nil {
				if _, err := s.Store.Maintenance.CollectGarbage(context.Background(), 0, false); err != nil {
					t.Error(err)
				}
			}
		})
		for i, status := range servertest.Together(len(ids), func(i int) int {
			return ada.Finalize("thing", thing, ids[i]).
				StatusCode
		}) {
			if status != http.StatusOK {
				t.Errorf("file %d: %d, want 200", ids[i], status)
			}
		}
		stop()
		collector.Wait()
		servertest.NothingLeft(t, s, len(ids))
	})
}
