package fsck

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/uploads"
)

// ranges returns the ranges of the objects below a prefix that the run checks.
func (r *run) ranges(prefix string) (ranges []string) {
	for _, part := range r.core.Bucket.Ranges(prefix) {
		switch {
		case strings.HasPrefix(part, r.Prefix):
			ranges = append(ranges, part)
		case strings.HasPrefix(r.Prefix, part):
			ranges = append(ranges, r.Prefix)
		}
	}
	return ranges
}

// objects returns the check that rows refer to the objects below a prefix, and that derived objects
// are complete. Its position is the number of the ranges that are done.
func (r *run) objects(prefix string, ranges []string) func(context.Context, string, func(string)) error {
	return func(ctx context.Context, after string, done func(string)) error {
		first := min(int(idAfter(after)), len(ranges))
		complete := inOrder{next: first, reached: func(n int) { done(strconv.Itoa(n)) }}
		numbers := make([]int, len(ranges)-first)
		for i := range numbers {
			numbers[i] = first + i
		}
		return atOnce(ctx, r.Workers, numbers, func(ctx context.Context, i int) error {
			if err := r.list(ctx, prefix, ranges[i]); err != nil {
				return err
			}
			complete.done(i)
			return nil
		})
	}
}

// list checks the objects of a range, a few at once.
func (r *run) list(ctx context.Context, prefix, within string) error {
	some := make([]bucket.Object, 0, models.ObjectsAtOnce)
	for o, err := range r.core.Bucket.Objects(ctx, within) {
		if err != nil {
			return err
		}
		if some = append(some, o); len(some) == cap(some) {
			if err := r.listed(ctx, prefix, some); err != nil {
				return err
			}
			some = some[:0]
		}
	}
	if len(some) == 0 {
		return nil
	}
	return r.listed(ctx, prefix, some)
}

// listed checks some objects below a prefix.
func (r *run) listed(ctx context.Context, prefix string, objects []bucket.Object) error {
	referenced, err := r.upkeep.Referenced(ctx, prefix, objects)
	if err != nil {
		return err
	}
	old := time.Now().Add(-r.Grace)
	var used []bucket.Object
	for _, o := range objects {
		switch {
		case referenced[o.Key]:
			used = append(used, o)
		case !o.ModTime.After(old):
			if err := r.orphan(ctx, prefix, o); err != nil {
				return err
			}
		}
	}
	if prefix != bucket.DerivedPrefix {
		return nil
	}
	return atOnce(ctx, r.Workers, used, r.derived)
}

// orphan reports an object that no row refers to.
func (r *run) orphan(ctx context.Context, prefix string, o bucket.Object) error {
	row := "file"
	if prefix == bucket.DerivedPrefix {
		row = "preview"
	}
	text := fmt.Sprintf("object %s: no %s refers to it (%d bytes; gc removes it)", o.Key, row, o.Size)
	return r.found(ctx, text, func(ctx context.Context) (string, error) {
		if prefix != bucket.ContentPrefix {
			return "removed", r.core.Bucket.Remove(ctx, o.Key)
		}
		gone, err := r.upkeep.CollectContent(ctx, o)
		if !gone {
			return "a file refers to it by now", err
		}
		return "removed", err
	})
}

// staged checks that a row refers to each upload of which some bytes have arrived, including the
// parts of killed writers in S3.
func (r *run) staged(ctx context.Context, _ string, _ func(string)) error {
	var some []bucket.StagedUpload
	check := func() error {
		names := make([]string, len(some))
		for i, u := range some {
			names[i] = u.Name
		}
		begun, err := r.uploads.StagedNames(ctx, names)
		if err != nil {
			return err
		}
		for _, u := range some {
			if begun[u.Name] {
				continue
			}
			err := r.found(ctx, fmt.Sprintf("staged upload %s: no upload refers to it (gc removes it)", u.Name),
				func(ctx context.Context) (string, error) {
					return "removed", r.core.Bucket.Unstage(ctx, u.Staged)
				})
			if err != nil {
				return err
			}
		}
		some = some[:0]
		return nil
	}
	for u, err := range r.core.Bucket.StagedUploads(ctx) {
		if err != nil {
			return err
		}
		least := r.Grace
		if u.Multipart != "" && least > 0 {
			least = max(least, uploads.MultipartGrace)
		}
		if time.Since(u.ModTime) < least {
			continue
		}
		if some = append(some, u); len(some) == models.ObjectsAtOnce {
			if err := check(); err != nil {
				return err
			}
		}
	}
	return check()
}

// inOrder turns numbers that are done in any order into how many are done without a gap.
type inOrder struct {
	mu      sync.Mutex
	next    int // the first one that is not done
	ahead   map[int]bool
	reached func(n int)
}

func (o *inOrder) done(i int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ahead == nil {
		o.ahead = make(map[int]bool)
	}
	o.ahead[i] = true
	for o.ahead[o.next] {
		delete(o.ahead, o.next)
		o.next++
	}
	o.reached(o.next)
}
