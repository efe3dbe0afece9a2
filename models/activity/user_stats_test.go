package activity_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/activity"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
	"github.com/meshyard/meshyard/models/social"
)

// TestYears checks that times that PostgreSQL cannot read are rejected: those of the year 0.
func TestYears(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		for _, at := range []time.Time{
			time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(1, 1, 1, 0, 0, 0, 0, time.FixedZone("", 3600)),
			time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -7200)),
		} {
			if _, err := s.Activity.Stats(t.Context(), ada, ada.UserID, activity.StatsPeriod{From: at, To: at}); models.CodeOf(
				err) != models.BadInput {
				t.Errorf("statistics of %s: %v", at, err)
			}
			if _, err := s.Social.Notifications(ada, ada.UserID, social.NotificationFilter{Since: &at}); models.CodeOf(
				err) != models.BadInput {
				t.Errorf("notifications since %s: %v", at, err)
			}
		}
		first, last := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
		for _, at := range []time.Time{first, last} {
			if days, err := s.Activity.Stats(t.Context(), ada, ada.UserID, activity.StatsPeriod{From: at, To: at}); err != nil ||
				len(days) != 0 {
				t.Errorf("statistics of %s: %v (%v)", at, days, err)
			}
		}
	})
}

// TestLongestStats checks that statistics cover as many days as the error names, and no more.
func TestLongestStats(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		from := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		for _, days := range []int{activity.MaxStatsDays, activity.MaxStatsDays + 1} {
			_, err := s.Activity.Stats(t.Context(), ada, ada.UserID,
				activity.StatsPeriod{From: from, To: from.AddDate(0, 0, days)})
			var failed *models.Error
			refused := errors.As(err, &failed) && failed.Code == models.BadInput
			if refused != (days > activity.MaxStatsDays) || err != nil && !refused {
				t.Errorf("statistics until %d days later: %v", days, err)
			}
			if refused && (failed.Limit != activity.MaxStatsDays ||
				!strings.Contains(failed.Message, fmt.Sprint("at most ", failed.Limit, " days"))) {
				t.Errorf("the limit is %d, and the message is %q", failed.Limit, failed.Message)
			}
		}
	})
}
