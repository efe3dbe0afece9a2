package graph

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// Another node may process a file, so its row is polled: frequently after a change, and with
// exponential backoff while nothing changes.
const (
	minPollInterval = 200 * time.Millisecond
	maxPollInterval = 2 * time.Second
	maxWatchTime    = 15 * time.Minute
	maxPollTime     = 30 * time.Second
)

// watch returns a channel that receives the processing state of a file immediately and after each
// change, until processing ends or maxWatchTime has passed. A slow receiver gets only the latest
// state. It returns NotFound or Forbidden if the caller cannot see the file.
func (r *Resolver) watch(ctx context.Context, fileID int64) (<-chan *model.Processing, error) {
	watcher := caller(ctx)
	snapshots, unsubscribe := r.poller.subscribe(r.Store, fileID)
	var first snapshot
	select {
	case first = <-snapshots:
	case <-ctx.Done():
		unsubscribe()
		return nil, ctx.Err()
	}
	state, err := first.visibleTo(watcher, fileID)
	if err != nil {
		unsubscribe()
		return nil, err
	}
	states := make(chan *model.Processing)
	go func() {
		defer close(states)
		defer unsubscribe()
		ctx, cancel := context.WithTimeout(ctx, maxWatchTime)
		defer cancel()
		for {
			select {
			case states <- state:
			case <-ctx.Done():
				return
			}
			for previous := state; reflect.DeepEqual(state, previous); {
				if state.State != model.ProcessingStateWaiting && state.State != model.ProcessingStateRunning {
					return
				}
				select {
				case next := <-snapshots:
					if state, err = next.visibleTo(watcher, fileID); err != nil {
						return // the file was deleted or hidden from the watcher
					}
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return states, nil
}

// snapshot has a file and its preview as read by one poll. The zero snapshot means that the file
// does not exist.
type snapshot struct {
	file    *models.File
	preview *models.Preview
	err     error // if the poll failed
}

func (s snapshot) visibleTo(watcher auth.Caller, fileID int64) (*model.Processing, error) {
	switch {
	case s.err != nil:
		return nil, s.err
	case s.file == nil:
		return nil, apierror.New(apierror.NotFound, "file %d does not exist", fileID)
	}
	return processing(s.file, s.preview), s.file.Allows(watcher)
}

// poller polls all watched files for all watchers, with two statements per poll. It runs only while
// there are watchers.
type poller struct {
	mu      sync.Mutex
	files   map[int64]*watchedFile
	polls   int           // number of polls started
	changed chan struct{} // signals that a watcher was added or removed
	running bool
}

type watchedFile struct {
	last     snapshot
	interval time.Duration
	due      time.Time
	// watchers maps each channel to the number of polls started before it subscribed, or to delivered.
	watchers map[chan snapshot]int
}

// delivered marks a watcher that has received a snapshot.
const delivered = -1

// subscribe returns a channel that receives the first snapshot read after the call, and then each
// snapshot that differs from the previous one.
func (p *poller) subscribe(store *models.Store, fileID int64) (snapshots <-chan snapshot, unsubscribe func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.files == nil {
		p.files, p.changed = make(map[int64]*watchedFile), make(chan struct{}, 1)
	}
	f := p.files[fileID]
	if f == nil {
		f = &watchedFile{interval: minPollInterval, watchers: make(map[chan snapshot]int)}
		p.files[fileID] = f
	}
	watcher := make(chan snapshot, 1)
	f.watchers[watcher] = p.polls
	f.due = time.Time{}
	if !p.running {
		p.running = true
		go p.run(store)
	}
	p.signal()
	return watcher, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if delete(f.watchers, watcher); len(f.watchers) == 0 && p.files[fileID] == f {
			delete(p.files, fileID)
			p.signal()
		}
	}
}

func (p *poller) signal() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// run polls until no file is watched.
func (p *poller) run(store *models.Store) {
	for {
		due, next, ok := p.begin(time.Now())
		switch {
		case !ok:
			return
		case len(due) > 0:
			snapshots, err := readSnapshots(store, due)
			p.deliver(due, snapshots, err, time.Now())
		default:
			select {
			case <-p.changed:
			case <-time.After(time.Until(next)):
			}
		}
	}
}

// begin returns the files to poll now, or the time of the next poll. If no file is watched, ok is
// false and the poller is marked as stopped.
func (p *poller) begin(now time.Time) (due []int64, next time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, f := range p.files {
		switch {
		case !now.Before(f.due):
			due = append(due, id)
		case next.IsZero() || f.due.Before(next):
			next = f.due
		}
	}
	p.polls++
	p.running = len(p.files) > 0
	return due, next, p.running
}

func readSnapshots(store *models.Store, ids []int64) (map[int64]snapshot, error) {
	ctx, cancel := context.WithTimeout(context.Background(), maxPollTime)
	defer cancel()
	files, err := store.FilesByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	var previewIDs []int64
	for _, f := range files {
		if f.PreviewID != 0 {
			previewIDs = append(previewIDs, f.PreviewID)
		}
	}
	previews, err := store.PreviewsByID(ctx, previewIDs)
	snapshots := make(map[int64]snapshot, len(files))
	for id, f := range files {
		snapshots[id] = snapshot{file: f, preview: previews[f.PreviewID]}
	}
	return snapshots, err
}

// deliver sends the snapshots of a poll. Watchers that subscribed after the poll started wait for
// the next poll, which starts immediately, so no watcher receives a state older than its
// subscription.
func (p *poller) deliver(ids []int64, snapshots map[int64]snapshot, err error, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range ids {
		f := p.files[id]
		if f == nil {
			continue
		}
		s := snapshots[id]
		changed := err == nil && !reflect.DeepEqual(s, f.last)
		switch {
		case err != nil:
			s.err = err // for new watchers; the others keep waiting
		case changed:
			f.last, f.interval = s, minPollInterval
		default:
			f.interval = min(f.interval*3/2, maxPollInterval)
		}
		f.due = now.Add(f.interval)
		for watcher, subscribed := range f.watchers {
			switch {
			case subscribed == p.polls:
				f.due = time.Time{}
			case subscribed != delivered || changed:
				select {
				case <-watcher: // drop a snapshot that the watcher has not received yet
				default:
				}
				watcher <- s
				f.watchers[watcher] = delivered
			}
		}
	}
}
