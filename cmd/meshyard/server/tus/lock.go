package tus

import (
	"context"
	"crypto/rand"
	"strconv"
	"sync"
	"time"

	"github.com/tus/tusd/v2/pkg/handler"

	"github.com/meshyard/meshyard/models/uploads"
)

const (
	// lockEvery is how often a request that waits for a lock tries to take it, at most. It tries again
	// after firstLock, because the previous request may have ended a moment ago, and then less often.
	lockEvery = 200 * time.Millisecond
	firstLock = 10 * time.Millisecond
	// renewEvery is how often the holder of a lock renews it, and asks whether another request waits.
	renewEvery = time.Second
	// unlockTimeout limits the statement that releases a lock, which expires anyway.
	unlockTimeout = 5 * time.Second
)

// takeOver is how long a request may go on after another one asks for its lock. A client that was
// cut off continues at once, and what it has sent before may still be on its way to the store.
const takeOver = time.Second

// patient delays the requests to release a lock.
type patient struct{ handler.Locker }

func (p patient) NewLock(id string) (handler.Lock, error) {
	l, err := p.Locker.NewLock(id)
	return patientLock{l}, err
}

type patientLock struct{ held handler.Lock }

func (l patientLock) Lock(ctx context.Context, requestUnlock func()) error {
	return l.held.Lock(ctx, func() { time.AfterFunc(takeOver, requestUnlock) })
}

func (l patientLock) Unlock() error { return l.held.Unlock() }

// locker keeps locks in the rows of the uploads, so that they hold for all nodes.
type locker struct{ store *uploads.Store }

func (l locker) NewLock(id string) (handler.Lock, error) {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil, handler.ErrNotFound
	}
	return &lock{store: l.store, id: number, by: rand.Text(), released: make(chan struct{})}, nil
}

// lock is the lock of a request.
type lock struct {
	store    *uploads.Store
	id       int64
	by       string
	released chan struct{}
	renewing sync.WaitGroup
}

// Lock implements [handler.Lock].
func (l *lock) Lock(ctx context.Context, requestUnlock func()) error {
	for wait := firstLock; ; wait = min(2*wait, lockEvery) {
		ok, err := l.store.LockUpload(ctx, l.id, l.by)
		if ctx.Err() != nil {
			return handler.ErrLockTimeout
		}
		if err != nil {
			return refusal(ctx, err)
		}
		if ok {
			l.renewing.Go(func() { l.renew(context.WithoutCancel(ctx), requestUnlock) })
			return nil
		}
		select {
		case <-ctx.Done():
			return handler.ErrLockTimeout
		case <-time.After(wait):
		}
	}
}

// renew renews the lock until it is released. It calls requestUnlock if another request waits, or
// if the lock may have expired.
func (l *lock) renew(ctx context.Context, requestUnlock func()) {
	renewed := time.Now()
	for {
		select {
		case <-l.released:
			return
		case <-time.After(renewEvery):
		}
		at := time.Now()
		keep, err := l.store.RenewUploadLock(ctx, l.id, l.by)
		if err == nil {
			renewed = at
		}
		if err == nil && !keep || time.Since(renewed) > uploads.UploadLease/2 {
			requestUnlock()
			if err != nil || !keep {
				l.keepUntilReleased(ctx)
				return
			}
		}
	}
}

// keepUntilReleased renews the lock while the request ends, without asking it again.
func (l *lock) keepUntilReleased(ctx context.Context) {
	for {
		select {
		case <-l.released:
			return
		case <-time.After(renewEvery):
			_, _ = l.store.RenewUploadLock(ctx, l.id, l.by) // a lock that is lost stays lost
		}
	}
}

// Unlock implements [handler.Lock].
func (l *lock) Unlock() error {
	close(l.released)
	l.renewing.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), unlockTimeout)
	defer cancel()
	return l.store.UnlockUpload(ctx, l.id, l.by)
}
