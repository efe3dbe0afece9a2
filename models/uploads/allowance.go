package uploads

import (
	"context"
	"math"
	"sync"

	"github.com/meshyard/meshyard/models"
)

// allowance returns how many bytes a user may still store. This is a preliminary check, before an
// upload starts. The final check is that of claim, after the upload.
func (s *Store) allowance(ctx context.Context, userID int64, pending int64) (*allowance, error) {
	wanted := models.Quotas{Bytes: s.core.Options.Quotas.Bytes, Pending: s.core.Options.Quotas.Pending * pending}
	if wanted == (models.Quotas{}) {
		return &allowance{left: math.MaxInt64}, nil
	}
	u, err := s.core.UsageOf(ctx, s.core.DB.Read, userID, wanted)
	switch {
	case err != nil:
		return nil, err
	case !u.Exempt && wanted.Pending != 0 && u.PendingUploads >= wanted.Pending:
		return nil, u.TooManyPending()
	case u.Exempt || wanted.Bytes == 0:
		return &allowance{left: math.MaxInt64}, nil
	}
	return &allowance{userID, u, wanted.Bytes - u.Bytes}, nil
}

// allowance is the remaining quota of bytes.
type allowance struct {
	userID int64
	usage  *models.Usage // nil if there is no limit
	left   int64
}

// receiving counts the bytes of uploads in progress by user, for users who have a quota.
type receiving struct {
	mu    sync.Mutex
	bytes map[int64]int64
}

// add adds n bytes to the count of a user and returns true. If the sum would exceed most, it adds
// nothing and returns false.
func (r *receiving) add(userID, n, most int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n > most-r.bytes[userID] {
		return false
	}
	if r.bytes == nil {
		r.bytes = make(map[int64]int64)
	}
	if r.bytes[userID] += n; r.bytes[userID] == 0 {
		delete(r.bytes, userID)
	}
	return true
}
