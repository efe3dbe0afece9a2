package models

import (
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
)

// TestYears checks that times that PostgreSQL cannot read are rejected: those of the year 0.
func TestYears(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		for _, at := range []time.Time{
			time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(1, 1, 1, 0, 0, 0, 0, time.FixedZone("", 3600)), time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -7200)),
		} {
			if _, err := s.Stats(t.Context(), ada, ada.UserID, StatsPeriod{From: at, To: at}); CodeOf(err) != BadInput {
				t.Errorf("statistics of %s: %v", at, err)
			}
			if _, err := s.Notifications(ada, ada.UserID, NotificationFilter{Since: &at}); CodeOf(err) != BadInput {
				t.Errorf("notifications since %s: %v", at, err)
			}
		}
		first, last := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
		for _, at := range []time.Time{first, last} {
			if days, err := s.Stats(t.Context(), ada, ada.UserID, StatsPeriod{From: at, To: at}); err != nil || len(days) != 0 {
				t.Errorf("statistics of %s: %v (%v)", at, days, err)
			}
		}
	})
}
