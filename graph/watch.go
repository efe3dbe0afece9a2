package graph

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// The work on a file may run on another node, so what is watched is its row: looked at often after each change, more and more seldom while there is none, and for
// nobody longer than work can take.
const (
	watchOften  = 200 * time.Millisecond
	watchSeldom = 2 * time.Second
	watchFor    = 15 * time.Minute
)

// watch tells how far the work on a file is, at once and whenever that changes, until it is at its end. Who is slow to listen is told the latest.
func (r *Resolver) watch(ctx context.Context, fileID int64) (<-chan *Processing, error) {
	who := caller(ctx)
	seen, leave := r.lookout.join(r.Store, fileID)
	var first sight
	select {
	case first = <-seen:
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
	at, err := first.shownTo(who, fileID)
	if err != nil {
		leave()
		return nil, err
	}
	told := make(chan *Processing)
	go func() {
		defer close(told)
		defer leave()
		ctx, cancel := context.WithTimeout(ctx, watchFor)
		defer cancel()
		for {
			select {
			case told <- at:
			case <-ctx.Done():
				return
			}
			for before := at; reflect.DeepEqual(at, before); {
				if at.State != ProcessingStateWaiting && at.State != ProcessingStateRunning {
					return
				}
				select {
				case now := <-seen:
					if at, err = now.shownTo(who, fileID); err != nil {
						return // the file is gone, or not the caller's to see any more
					}
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return told, nil
}

// sight is a file as it was seen; the zero sight is that of one that is not there.
type sight struct {
	file    *models.File
	preview *models.Preview
	err     error // the database did not answer
}

func (s sight) shownTo(who auth.Caller, fileID int64) (*Processing, error) {
	switch {
	case s.err != nil:
		return nil, s.err
	case s.file == nil:
		return nil, NotFound(fmt.Sprintf("file %d does not exist", fileID))
	}
	return processing(s.file, s.preview), s.file.Allows(who)
}

// lookout looks at all files that are watched, for all who watch them, by one pair of statements at a time. It is at work while anybody watches.
type lookout struct {
	mu     sync.Mutex
	files  map[int64]*watchedFile
	round  int           // how many looks were begun
	called chan struct{} // holds one when somebody came, or went, since
	atWork bool
}

type watchedFile struct {
	last     sight
	every    time.Duration
	due      time.Time
	watchers map[chan sight]int // with the round in which each came; told: he was told what was seen since
}

const told = -1

// join begins to watch a file. What is seen is sent from then on: at first whatever it is, and then what is new. leave ends it.
func (l *lookout) join(store *models.Store, fileID int64) (seen <-chan sight, leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files == nil {
		l.files, l.called = make(map[int64]*watchedFile), make(chan struct{}, 1)
	}
	f := l.files[fileID]
	if f == nil {
		f = &watchedFile{every: watchOften, watchers: make(map[chan sight]int)}
		l.files[fileID] = f
	}
	watcher := make(chan sight, 1)
	f.watchers[watcher] = l.round
	f.due = time.Time{}
	if !l.atWork {
		l.atWork = true
		go l.work(store)
	}
	l.call()
	return watcher, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if delete(f.watchers, watcher); len(f.watchers) == 0 && l.files[fileID] == f {
			delete(l.files, fileID)
			l.call()
		}
	}
}

func (l *lookout) call() {
	select {
	case l.called <- struct{}{}:
	default:
	}
}

func (l *lookout) work(store *models.Store) {
	for {
		due, next, ok := l.begin(time.Now())
		switch {
		case !ok:
			return
		case len(due) > 0:
			seen, err := look(store, due)
			l.tell(due, seen, err, time.Now())
		default:
			select {
			case <-l.called:
			case <-time.After(time.Until(next)):
			}
		}
	}
}

// begin gives the files that are to be looked at, or when the next one is. ok is false, and the work at its end, where none is watched.
func (l *lookout) begin(now time.Time) (due []int64, next time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, f := range l.files {
		switch {
		case !now.Before(f.due):
			due = append(due, id)
		case next.IsZero() || f.due.Before(next):
			next = f.due
		}
	}
	l.round++
	l.atWork = len(l.files) > 0
	return due, next, l.atWork
}

// look reads files and their previews.
func look(store *models.Store, ids []int64) (map[int64]sight, error) {
	ctx, cancel := context.WithTimeout(context.Background(), maxQueryTime)
	defer cancel()
	files, err := store.FilesByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	var of []int64
	for _, f := range files {
		if f.PreviewID != 0 {
			of = append(of, f.PreviewID)
		}
	}
	previews, err := store.PreviewsByID(ctx, of)
	seen := make(map[int64]sight, len(files))
	for id, f := range files {
		seen[id] = sight{file: f, preview: previews[f.PreviewID]}
	}
	return seen, err
}

// tell hands out what was seen. Those who came after the look had begun wait for the next one, which begins at once: nobody is told what is older than his call.
func (l *lookout) tell(ids []int64, seen map[int64]sight, err error, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		f := l.files[id]
		if f == nil {
			continue
		}
		s := seen[id]
		news := err == nil && !reflect.DeepEqual(s, f.last)
		switch {
		case err != nil:
			s.err = err // for those who came just now; the others wait on
		case news:
			f.last, f.every = s, watchOften
		default:
			f.every = min(f.every*3/2, watchSeldom)
		}
		f.due = now.Add(f.every)
		for watcher, came := range f.watchers {
			switch {
			case came == l.round:
				f.due = time.Time{}
			case came != told || news:
				select {
				case <-watcher: // what he has not heard yet is old
				default:
				}
				watcher <- s
				f.watchers[watcher] = told
			}
		}
	}
}
