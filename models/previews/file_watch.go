package previews

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/meshyard/meshyard/models"
)

// Another node may process a file, so its row is polled: frequently after a change, and with
// exponential backoff while nothing changes.
const (
	MinPollInterval = 200 * time.Millisecond
	MaxPollInterval = 2 * time.Second
)

// maxPollTime is how long one poll may take.
const maxPollTime = 30 * time.Second

// A FileSnapshot has a file and its preview as read by one poll. The zero FileSnapshot means that
// the file does not exist.
type FileSnapshot struct {
	File    *models.File
	Preview *models.Preview
	Err     error // if the poll failed
}

// WatchFile returns a channel that receives the first snapshot of a file that is read after the
// call, and then each snapshot that differs from the previous one. A slow receiver gets only the
// latest one. It does not check visibility. The caller must call unwatch.
func (s *Store) WatchFile(fileID int64) (snapshots <-chan FileSnapshot, unwatch func()) {
	return s.poller.subscribe(s, fileID)
}

// filePoller polls all watched files for all watchers, with two statements per poll. It runs only
// while there are watchers.
type filePoller struct {
	mu      sync.Mutex
	files   map[int64]*watchedFile
	polls   int           // number of polls started
	changed chan struct{} // signals that a watcher was added or removed
	running bool
}

type watchedFile struct {
	last     FileSnapshot
	interval time.Duration
	due      time.Time
	// watchers maps each channel to the number of polls started before it subscribed, or to delivered.
	watchers map[chan FileSnapshot]int
}

// delivered marks a watcher that has received a snapshot.
const delivered = -1

// subscribe returns a channel that receives the first snapshot read after the call, and then each
// snapshot that differs from the previous one.
func (p *filePoller) subscribe(s *Store, fileID int64) (snapshots <-chan FileSnapshot, unsubscribe func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.files == nil {
		p.files, p.changed = make(map[int64]*watchedFile), make(chan struct{}, 1)
	}
	f := p.files[fileID]
	if f == nil {
		f = &watchedFile{interval: MinPollInterval, watchers: make(map[chan FileSnapshot]int)}
		p.files[fileID] = f
	}
	watcher := make(chan FileSnapshot, 1)
	f.watchers[watcher] = p.polls
	f.due = time.Time{}
	if !p.running {
		p.running = true
		go p.run(s)
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

func (p *filePoller) signal() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// run polls until no file is watched.
func (p *filePoller) run(s *Store) {
	for {
		due, next, ok := p.begin(time.Now())
		switch {
		case !ok:
			return
		case len(due) > 0:
			snapshots, err := s.readSnapshots(due)
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
func (p *filePoller) begin(now time.Time) (due []int64, next time.Time, ok bool) {
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

func (s *Store) readSnapshots(ids []int64) (map[int64]FileSnapshot, error) {
	ctx, cancel := context.WithTimeout(context.Background(), maxPollTime)
	defer cancel()
	files, err := s.core.FilesByID(ctx, models.AllFileFields, ids)
	if err != nil {
		return nil, err
	}
	snapshots := make(map[int64]FileSnapshot, len(files))
	for id, f := range files {
		snapshots[id] = FileSnapshot{File: f, Preview: f.Preview}
	}
	return snapshots, err
}

// deliver sends the snapshots of a poll. Watchers that subscribed after the poll started wait for
// the next poll, which starts immediately, so no watcher receives a state older than its
// subscription.
func (p *filePoller) deliver(ids []int64, snapshots map[int64]FileSnapshot, err error, now time.Time) {
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
			s.Err = err // for new watchers; the others keep waiting
		case changed:
			f.last, f.interval = s, MinPollInterval
		default:
			f.interval = min(f.interval*3/2, MaxPollInterval)
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
