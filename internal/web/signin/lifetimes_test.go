package signin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/meshyard/meshyard/internal/ratelimit"
	"github.com/meshyard/meshyard/internal/urls/signing"
	"github.com/meshyard/meshyard/internal/web/language"
)

// returning returns a request of a browser that sends back the cookies of a response.
func returning(w *httptest.ResponseRecorder) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/login", nil)
	for _, c := range w.Result().Cookies() {
		r.AddCookie(c)
	}
	return r
}

// TestAttemptsAreSlowedDown checks that the attempts on one account from many networks are delayed
// beyond the limit, except in a browser that the user has signed in with.
func TestAttemptsAreSlowedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAttempts(ratelimit.NewGroup(nil))
		try := func(network, device string) time.Duration {
			t.Helper()
			begin := time.Now()
			if wait, ok := a.take(t.Context(), "ada", network, device); !ok {
				t.Errorf("an attempt from %s is refused for %s", network, wait)
			}
			return time.Since(begin)
		}
		for i := range perAccount {
			if took := try(fmt.Sprint("network ", i/perPair), ""); took != 0 {
				t.Errorf("attempt %d took %s, want no delay", i+1, took)
			}
		}
		if took := try("another network", ""); took != accountSlowdown {
			t.Errorf("an attempt beyond the limit took %s, want %s", took, accountSlowdown)
		}
		if took := try("another network", "device"); took != 0 {
			t.Errorf("an attempt in a known browser took %s, want no delay", took)
		}
	})
}

// TestUsersOfOneNetwork checks that sign-ins with the right password do not count towards the limit
// of their network, and that those with a wrong one do.
func TestUsersOfOneNetwork(t *testing.T) {
	a := newAttempts(ratelimit.NewGroup(nil))
	for i := range 3 * perNetwork {
		name := fmt.Sprint("user", i)
		if wait, ok := a.take(t.Context(), name, "school", ""); !ok {
			t.Fatalf("sign-in %d is refused for %s", i+1, wait)
		}
		a.succeeded(t.Context(), name, "school", "")
	}
	for i := range perNetwork + 1 {
		if _, ok := a.take(t.Context(), fmt.Sprint("other", i), "school", ""); ok != (i < perNetwork) {
			t.Errorf("attempt %d: got %t", i+1, ok)
		}
	}
}

// TestDeviceIsForgotten checks that a browser is known for deviceLifetime after a sign-in.
func TestDeviceIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &site{Options: Options{Key: signing.Key("secret")}}
		w := httptest.NewRecorder()
		s.rememberDevice(w, "ada")
		r := returning(w)
		time.Sleep(deviceLifetime - time.Second)
		if s.device(r, "ada") == "" || s.device(r, "bob") != "" {
			t.Errorf("before the end: the device of ada is %q and that of bob %q, want only that of ada", s.device(r, "ada"),
				s.device(r, "bob"))
		}
		time.Sleep(time.Second)
		if id := s.device(r, "ada"); id != "" {
			t.Errorf("at the end: the device is %q, want none", id)
		}
	})
}

// TestMistakeIsForgotten checks that the mistake in a form is shown on the page with the form, for
// mistakeLifetime.
func TestMistakeIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &site{Options: Options{Key: signing.Key("secret")}}
		w := httptest.NewRecorder()
		form := httptest.NewRequest(http.MethodPost, "/login", nil)
		form.Header.Set("Accept", "text/html")
		s.showAgain(w, form, "sign-in", http.StatusForbidden, loginPath, url.Values{},
			view{Message: language.Message{Text: "Wrong."}, Username: "ada"})
		r := returning(w)
		check := func(when, path string, status int, message string) {
			t.Helper()
			var v view
			if got := s.correct(httptest.NewRecorder(), r, path, &v); got != status || v.Message.Text != message {
				t.Errorf("%s, on %s: got %d %q, want %d %q", when, path, got, v.Message.Text, status, message)
			}
		}
		check("at once", ResetPath, http.StatusOK, "")
		time.Sleep(mistakeLifetime)
		check("before the end", loginPath, http.StatusForbidden, "Wrong.")
		time.Sleep(time.Nanosecond)
		check("after the end", loginPath, http.StatusOK, "")
	})
}

// TestFlowExpires checks that a sign-in with the OpenID provider must be completed within
// flowLifetime.
func TestFlowExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &site{Options: Options{Key: signing.Key("secret")}}
		text, err := json.Marshal(flow{State: "state", Until: time.Now().Add(flowLifetime)})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		s.setSigned(w, flowCookie, flowPurpose, text, flowLifetime)
		r := returning(w)
		time.Sleep(flowLifetime - 1)
		if f, ok := s.flow(r); !ok || f.State != "state" {
			t.Errorf("before the end: %+v, %t, want the flow", f, ok)
		}
		time.Sleep(time.Nanosecond)
		if _, ok := s.flow(r); ok {
			t.Error("at the end: the flow is valid")
		}
	})
}
