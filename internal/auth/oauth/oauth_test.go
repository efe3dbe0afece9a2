package oauth

import (
	"strings"
	"testing"
)

// longRedirect is the longest redirect URI that an application can register.
var longRedirect = "https://app.example/" + strings.Repeat("x", maxRedirect-len("https://app.example/"))

func TestCheckRedirect(t *testing.T) {
	for address, good := range map[string]bool{
		"https://app.example/cb": true, "https://app.example:8443/cb?x=1": true, "http://127.0.0.1/cb": true,
		"http://127.0.0.1:9/cb": true, "http://[::1]/cb": true,
		"http://localhost:3000/": true, "org.example.app:/cb": true, "org.example.app://cb": true,
		"http://app.example/cb": false, "https://app.example/cb#x": false, "https://app.example/#": false,
		"https://u:p@app.example/": false, "/cb": false, "": false, "https:///cb": false,
		"javascript:alert(1)": false, "data:text/html,x": false, "app:/cb": false, "https://a;b/": false,
		"https://a,b/": false, "https://a.example/ x": false, "https://a.example/\n": false,
		"http://127.0.0.1.evil.example/": false, "http://localhost.evil.example/": false, "ftp://a.example/": false,
		"https://é.example/": false,
		longRedirect:         true, longRedirect + "x": false,
	} {
		if err := CheckRedirect(address); (err == nil) != good {
			t.Errorf("%q: got %v, want that it is accepted: %t", address, err, good)
		}
	}
}

func TestAllowsRedirect(t *testing.T) {
	a := &Application{Redirects: []string{"https://app.example/cb", "http://127.0.0.1/cb", "http://[::1]:1/cb",
		"org.example.app:/cb"}}
	for address, want := range map[string]bool{
		"https://app.example/cb": true, "http://127.0.0.1/cb": true, "http://127.0.0.1:5000/cb": true,
		"http://[::1]:77/cb": true, "org.example.app:/cb": true,
		"https://app.example/cb/": false, "https://app.example/CB": false, "https://APP.example/cb": false,
		"https://app.example:443/cb": false, "https://app.example/cb?x": false,
		"https://app.example/cb%2F": false, "https://app.example.evil.example/cb": false, "http://app.example/cb": false,
		"http://127.0.0.1:5000/cb?x=1": false, "http://127.0.0.1:5000/": false,
		"http://localhost:5000/cb": false, "https://127.0.0.1/cb": false, "http://127.0.0.1:5000@evil.example/cb": false,
		"http://127.0.0.1:5000#/cb": false, "http://127.0.0.2/cb": false, "": false,
	} {
		if got := a.AllowsRedirect(address); got != want {
			t.Errorf("%q: got %t, want %t", address, got, want)
		}
	}
}

// TestMatchesChallenge uses the example of RFC 7636, appendix B.
func TestMatchesChallenge(t *testing.T) {
	const verifier, challenge = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
		"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
	for _, c := range []struct {
		verifier, challenge string
		want                bool
	}{
		{verifier, challenge, true}, {verifier + "x", challenge, false}, {"", challenge, false},
		{challenge, challenge, false}, {verifier, "", false}, {"", "", true},
	} {
		if got := MatchesChallenge(c.verifier, c.challenge); got != c.want {
			t.Errorf("%q for %q: %t, want %t", c.verifier, c.challenge, got, c.want)
		}
	}
	if !IsChallenge(challenge) || IsChallenge(verifier+"=") || IsChallenge("") {
		t.Error("valid and invalid challenges are not distinguished")
	}
}

func TestResponseURI(t *testing.T) {
	for got, want := range map[string]string{
		ResponseURI("https://a.example/cb", false, [2]string{"code", "a b"},
			[2]string{"state", "x&y"}): "https://a.example/cb?code=a+b&state=x%26y",
		ResponseURI("https://a.example/cb?k=v", false, [2]string{"code", "c"},
			[2]string{"state", ""}): "https://a.example/cb?k=v&code=c",
		ResponseURI("http://[::1]/", true, [2]string{"access_token", "t"},
			[2]string{"token_type", "Bearer"}): "http://[::1]/#access_token=t&token_type=Bearer",
		Origin("https://a.example:8443/cb") + " " + Origin("org.example.app:/x") +
			Origin("http://[::1]:9/cb"): "https://a.example:8443 org.example.app:http://[::1]:9",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
