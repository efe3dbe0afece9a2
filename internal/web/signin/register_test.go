package signin

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/meshyard/meshyard/internal/ratelimit"
)

// signUps is a store that records for which addresses a mail to create an account is requested.
type signUps struct {
	Store
	emails []string
}

func (s *signUps) RequestSignUp(_ context.Context, email string) error {
	s.emails = append(s.emails, email)
	return nil
}

// TestSignUpMailsAreLimited checks that a limited number of mails is sent to one address, and none
// to a text that is not an address.
func TestSignUpMailsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(signUps)
		s := &site{Options: Options{Store: store, Registration: true, SendsMail: true},
			requests: newRequests(ratelimit.NewGroup(nil))}
		send := func(email string, want int) {
			t.Helper()
			r := httptest.NewRequest(http.MethodPost, signUpPath, strings.NewReader(url.Values{"email": {email}}.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			w := httptest.NewRecorder()
			s.signUp(w, r)
			if w.Code != want {
				t.Errorf("%.100s: got %d, want %d", email, w.Code, want)
			}
		}
		const ada, bob = "ada@example.org", "bob@example.org"
		send(strings.Repeat("x", maxEmail-len("@example.org")+1)+"@example.org", http.StatusBadRequest)
		send("Ada <ada@example.org>", http.StatusBadRequest)
		for range mailsPerName {
			send(ada, http.StatusOK)
		}
		send(strings.ToUpper(ada), http.StatusOK)
		send(bob, http.StatusOK)
		if want := []string{ada, ada, ada, bob}; !slices.Equal(store.emails, want) {
			t.Errorf("got mails to %q, want %q", store.emails, want)
		}
		time.Sleep(ratelimit.Window)
		send(ada, http.StatusOK)
		if n := len(store.emails); n != mailsPerName+2 {
			t.Errorf("after %s: got %d mails, want %d", ratelimit.Window, n, mailsPerName+2)
		}
	})
}
