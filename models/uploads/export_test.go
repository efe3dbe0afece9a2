package uploads

import "context"

// Internals that the tests of package uploads_test use.

// Receiving returns the number of bytes that are counted as received by a user.
func (s *Store) Receiving(userID int64) int64 {
	s.receiving.mu.Lock()
	defer s.receiving.mu.Unlock()
	return s.receiving.bytes[userID]
}

func (s *Store) DiscardUnreferenced(ctx context.Context, key string) { s.discardUnreferenced(ctx, key) }
