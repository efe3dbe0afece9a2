package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/meshyard/meshyard/internal/layout"
)

const (
	// quietFor is how long a library must be quiet before a change is scanned: copying takes a while.
	quietFor = 3 * time.Second
	// watchesMost is the number of folders of a library that are watched. Linux permits a user about
	// 8,000 to 120,000 on all file systems.
	watchesMost = 5_000
)

// watch calls changed whenever something in a library has changed, until ctx ends. If the operating
// system cannot watch the folders, as those of network file systems, or there are too many, changes
// wait for the next scan of the schedule.
func (a *Server) watch(ctx context.Context, dir string, changed func()) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		a.Logger.Warn("a library is not watched, only scanned at an interval", "folder", dir, "error", err.Error())
		return
	}
	defer watcher.Close()
	w := &watching{Watcher: watcher}
	if err := w.below(ctx, dir); err != nil && ctx.Err() == nil {
		a.Logger.Warn("not all folders of a library are watched, only scanned at an interval", "folder", dir, "error",
			err.Error())
	}
	pending := time.NewTimer(time.Hour)
	pending.Stop()
	defer pending.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case event, ok := <-watcher.Events:
			if !ok {
				return
			}
			if layout.Ignored(filepath.Base(event.Name)) || event.Op == fsnotify.Chmod {
				continue
			}
			if event.Has(fsnotify.Create) {
				_ = w.below(ctx, event.Name) // what cannot be watched waits for the schedule
			}
			pending.Reset(quietFor)
		case _, ok := <-watcher.Errors: // such as too many events: some are lost
			if !ok {
				return
			}
			pending.Reset(quietFor)
		case <-pending.C:
			changed()
		}
	}
}

// watching watches the folders of a library.
type watching struct {
	*fsnotify.Watcher
	folders int
}

// below watches a folder and those below it. It does nothing for a file.
func (w *watching) below(ctx context.Context, dir string) error {
	return filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil || !entry.IsDir():
			return nil //nolint:nilerr // a scan reports what cannot be read
		case path != dir && layout.Ignored(entry.Name()):
			return filepath.SkipDir
		case w.folders == watchesMost:
			return fmt.Errorf("it has more than %d folders", watchesMost)
		}
		w.folders++
		return w.Add(path)
	})
}
