package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// tokenPrefix lets people and secret scanners see what a leaked string is.
const tokenPrefix = "my_"

// NewToken makes an access token of 256 random bits. It is shown once; what is kept is its Hash.
func NewToken() string { return tokenPrefix + NewSecret() }

// NewSecret makes 256 random bits as 43 letters: a client's secret, a code, a session. What is kept of one is its HashSecret.
func NewSecret() string {
	var b [32]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the process first
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Hash gives what is kept of a token: SHA-256 in hex. The token is random, so no salt and no slow hash is needed.
// ok is false for a text that cannot be a token, so that nobody need ask the database about it.
func Hash(token string) (hash string, ok bool) {
	if len(token) != len(tokenPrefix)+43 || !strings.HasPrefix(token, tokenPrefix) {
		return "", false
	}
	return HashSecret(token), true
}

// HashSecret gives what is kept of a random secret: SHA-256 in hex.
func HashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
