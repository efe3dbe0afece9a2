// Package oidctest provides an OpenID provider for tests. It is a real HTTP server that validates
// requests and signs tokens.
package oidctest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/auth/oauth"
)

// Claims are the claims of a token.
type Claims map[string]any

// Issuer is a provider that signs in every visitor as the configured user.
type Issuer struct {
	URL      string
	ClientID string
	Secret   string
	// RequiredLogin, if set before the first sign-in, is the name that visitors must enter into a
	// form.
	RequiredLogin string
	// LosesKeys, if set before the first sign-in, makes the provider fail to publish its keys.
	LosesKeys bool

	mu     sync.Mutex
	person Claims
	info   Claims // response of UserInfo; nil: there is no such endpoint
	key    *rsa.PrivateKey
	codes  map[string]url.Values // parameters of the authorization requests, by code
	access map[string]Claims     // responses of UserInfo, by access token
	asked  int                   // number of requests for the keys
}

const keyID = "test"

// New starts a provider with one registered client. It stops when the test ends.
func New(t testing.TB) *Issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &Issuer{ClientID: "meshyard", Secret: "secret of " + rand.Text(), key: key, codes: make(map[string]url.Values),
		access: make(map[string]Claims)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.describe)
	mux.HandleFunc("GET /keys", i.keys)
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	mux.HandleFunc("GET /userinfo", i.userInfo)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	i.URL = server.URL
	return i
}

// SetUser sets the claims of the users who sign in from now on.
func (i *Issuer) SetUser(person Claims) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.person = person
}

// SetUserInfo sets the response of UserInfo for users who sign in from now on. It also publishes
// that endpoint, which must happen before the server first requests the configuration.
func (i *Issuer) SetUserInfo(info Claims) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.info = info
}

func (i *Issuer) describe(w http.ResponseWriter, _ *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	userInfo := ""
	if i.info != nil {
		userInfo = i.URL + "/userinfo"
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token",
		"jwks_uri":                              i.URL + "/keys",
		"userinfo_endpoint":                     userInfo,
		"id_token_signing_alg_values_supported": []string{"RS256"}, "response_types_supported": []string{"code"},
		"subject_types_supported": []string{"public"},
	})
}

// KeyRequests returns the number of requests for the keys.
func (i *Issuer) KeyRequests() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked
}

func (i *Issuer) keys(w http.ResponseWriter, _ *http.Request) {
	i.mu.Lock()
	i.asked++
	i.mu.Unlock()
	if i.LosesKeys {
		http.Error(w, "no keys", http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{map[string]string{
		"kty": "RSA", "alg": "RS256", "use": "sig", "kid": keyID,
		"n": base64.RawURLEncoding.EncodeToString(i.key.N.Bytes()),
		"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(i.key.E)).Bytes()),
	}}})
}

func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("client_id") != i.ClientID || q.Get("state") == "" || q.Get("nonce") == "" ||
		q.Get("code_challenge_method") != "S256" || q.Get("response_type") != "code" {
		http.Error(w, "invalid request", http.StatusBadRequest)
		return
	}
	if i.RequiredLogin != "" && r.PostFormValue("login") != i.RequiredLogin {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w,
			`<!doctype html><title>Provider</title><form method="post"><input id="login" name="login" autofocus><button>Sign in</button></form>`)
		return
	}
	code := rand.Text()
	i.mu.Lock()
	i.codes[code] = q
	i.mu.Unlock()
	http.Redirect(w, r, oauth.ResponseURI(q.Get("redirect_uri"), false, [2]string{"code", code},
		[2]string{"state", q.Get("state")}), http.StatusFound)
}

func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	asked := i.codes[r.FormValue("code")]
	delete(i.codes, r.FormValue("code"))
	claims := maps.Clone(i.person)
	access := rand.Text()
	i.access[access] = i.info
	i.mu.Unlock()
	id, secret, _ := r.BasicAuth()
	secret, _ = url.QueryUnescape(secret)
	if asked == nil || id != i.ClientID || secret != i.Secret || !oauth.MatchesChallenge(r.FormValue("code_verifier"),
		asked.Get("code_challenge")) || r.FormValue("redirect_uri") != asked.Get("redirect_uri") {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":"invalid_grant"}`)
		return
	}
	if _, told := claims["nonce"]; !told {
		claims["nonce"] = asked.Get("nonce")
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).
		Encode(map[string]any{"access_token": access, "token_type": "Bearer", "id_token": i.Sign(claims)})
}

// userInfo responds with the claims for an access token, or with an error if there are none.
func (i *Issuer) userInfo(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	i.mu.Lock()
	info := i.access[token]
	i.mu.Unlock()
	if len(info) == 0 {
		http.Error(w, "unknown token, or no UserInfo", http.StatusForbidden)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(info)
}

// Sign returns a signed ID token with the given claims. By default it is issued by this provider
// for its client and expires in an hour; the claims can override that.
func (i *Issuer) Sign(claims Claims) string {
	all := Claims{"iss": i.URL, "aud": i.ClientID, "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}
	maps.Copy(all, claims)
	encode := func(v any) string {
		text, _ := json.Marshal(v)
		return base64.RawURLEncoding.EncodeToString(text)
	}
	signed := encode(map[string]string{"alg": "RS256", "typ": "JWT", "kid": keyID}) + "." + encode(all)
	sum := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, sum[:])
	if err != nil {
		panic(err) // unreachable: the key is valid
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature)
}
