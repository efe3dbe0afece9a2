package account

import (
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// TestInvitationsAreLimited checks that at most 100 invitations can be used at a time: another one
// can be created after one was revoked.
func TestInvitationsAreLimited(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, _ auth.Caller) {
		var last int64
		for i := range 100 {
			_, inv, err := s.Admin().CreateInvitation(t.Context(), NewInvitation{})
			if err != nil {
				t.Fatalf("invitation %d: %v", i+1, err)
			}
			last = inv.ID
		}
		if _, _, err := s.Admin().CreateInvitation(t.Context(), NewInvitation{}); models.CodeOf(err) != models.Conflict {
			t.Errorf("invitation 101: got %v, want %s", err, models.Conflict)
		}
		if err := s.Admin().RevokeInvitation(t.Context(), last); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Admin().CreateInvitation(t.Context(), NewInvitation{}); err != nil {
			t.Errorf("after one was revoked: got %v, want another invitation", err)
		}
	})
}
