package models

import (
	"errors"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
)

// TestProfileEmail checks that a profile takes an e-mail address, none, and nothing else, so that
// no mail is sent to what is not one.
func TestProfileEmail(t *testing.T) {
	mails := 0
	eachStoreDuring(t, func() { mails++ }, func(t *testing.T, s *Store, ada auth.Caller) {
		s.options.SendsMail, mails = true, 0
		for _, c := range []struct {
			email string
			ok    bool
			mails int // in total, after the change
		}{
			{"ada@example.org", true, 1}, {"ada@example.org", true, 1}, {"ada", false, 1}, {"Ada <ada@example.org>", false, 1},
			{"ada@example.org, bob@example.org", false, 1}, {strings.Repeat("a", 250) + "@example.org", false, 1}, {"", true, 1}, {"a@b.example", true, 2},
		} {
			_, err := s.UpdateProfile(t.Context(), ada, ProfileChange{Email: &c.email})
			var e *Error
			if c.ok != (err == nil) || err != nil && (!errors.As(err, &e) || e.Code != BadInput || e.Field != "email") {
				t.Errorf("%.40q: %v, want it accepted: %t", c.email, err, c.ok)
			}
			if mails != c.mails {
				t.Errorf("%.40q: %d mails in total, want %d", c.email, mails, c.mails)
			}
		}
	})
}
