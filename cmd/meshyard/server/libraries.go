package server

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/outage"
	"github.com/meshyard/meshyard/models/library"
)

// libraryFolders returns the folders of the libraries by name.
func libraryFolders(s config.Settings) map[string]string {
	folders := map[string]string{}
	for _, l := range s.Library {
		folders[l.Name] = l.Dir
	}
	return folders
}

func libraryOptions(s config.Settings) library.Options {
	o := library.Options{Owner: s.LibraryOwner, Publish: s.LibraryPublish}
	for _, l := range s.Library {
		o.Folders = append(o.Folders, library.Folder{Name: l.Name, Dir: l.Dir})
	}
	return o
}

// scanCheck is how often the server looks whether a scan of a library is due.
const scanCheck = 5 * time.Second

// startScans scans the libraries whenever that is due or they have changed, and reads new files.
// Servers of the same database take turns. The returned function stops it; the next scan continues.
func (a *Server) startScans(ctx context.Context) (stop func()) {
	if len(a.Settings.Library) == 0 || !a.Settings.Roles.Has(config.RoleJobs) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var working sync.WaitGroup
	for _, l := range a.Settings.Library {
		if a.Settings.LibraryInterval > 0 {
			working.Go(func() {
				a.watch(ctx, l.Dir, func() {
					if err := a.Store.Library.Notice(ctx, l.Name); err != nil && ctx.Err() == nil {
						a.logScan(ctx, "a change of a library was not noticed", err)
					}
				})
			})
		}
	}
	working.Go(func() {
		for {
			for _, l := range a.Settings.Library {
				a.scan(ctx, l.Name)
			}
			if _, err := a.Store.Library.Read(ctx, nil); err != nil && ctx.Err() == nil {
				a.logScan(ctx, "new files of libraries were not read", err)
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(scanCheck):
			}
		}
	})
	return func() {
		cancel()
		working.Wait()
	}
}

// scan scans a library if that is due.
func (a *Server) scan(ctx context.Context, name string) {
	due, err := a.Store.Library.IsDue(ctx, name, a.Settings.LibraryInterval)
	if err == nil && !due || ctx.Err() != nil {
		return
	}
	started := time.Now()
	var counts library.Counts
	if err == nil {
		counts, err = a.Store.Library.Scan(ctx, name, nil)
	}
	switch {
	case errors.Is(err, library.ErrBusy), ctx.Err() != nil:
	case err != nil:
		a.logScan(ctx, "a library was not scanned", err)
	default:
		a.Logger.Info("scanned a library", "library", name, "files", counts.FilesFound, "things_added", counts.ThingsAdded,
			"files_added", counts.FilesAdded,
			"files_changed", counts.FilesChanged, "files_moved", counts.FilesMoved, "files_missing", counts.FilesMissing, "took",
			time.Since(started).String())
	}
}

func (a *Server) logScan(ctx context.Context, message string, err error) {
	if down := outage.Of(err); down != nil {
		outage.Log(ctx, down, err)
		return
	}
	a.Logger.Error(message, "error", err.Error())
}
