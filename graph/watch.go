package graph

import (
	"context"
	"reflect"
	"time"
)

// The work may run on another node, so what is watched is its row: looked at often at first, and never for longer than work can take.
const (
	watchEvery = 200 * time.Millisecond
	watchFor   = 15 * time.Minute
)

// watch tells how far the work on a file is, at once and whenever that changes, until it is at its end.
func (r *Resolver) watch(ctx context.Context, fileID int64) (<-chan *Processing, error) {
	who := caller(ctx)
	look := func() (*Processing, error) {
		f, err := r.Store.File(ctx, who, fileID)
		if err != nil {
			return nil, err
		}
		previews, err := r.Store.PreviewsByID(ctx, []int64{f.PreviewID})
		return processing(f, previews[f.PreviewID]), err
	}
	at, err := look()
	if err != nil {
		return nil, err
	}
	told := make(chan *Processing)
	go func() {
		defer close(told)
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
				case <-time.After(watchEvery):
				case <-ctx.Done():
					return
				}
				if at, err = look(); err != nil {
					return // the file is gone, or not the caller's to see any more
				}
			}
		}
	}()
	return told, nil
}
