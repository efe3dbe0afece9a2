package oauth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"regexp"
)

var (
	challenge = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)
	verifier  = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)
)

// IsChallenge reports whether a text is a valid S256 challenge (RFC 7636, section 4.2).
func IsChallenge(text string) bool { return challenge.MatchString(text) }

// MatchesChallenge reports whether the code verifier matches the S256 challenge (RFC 7636, section
// 4.6). Without a challenge there must be no verifier: otherwise an attacker could have removed the
// challenge (RFC 9700, section 4.8.2).
func MatchesChallenge(given, challenge string) bool {
	if challenge == "" {
		return given == ""
	}
	sum := sha256.Sum256([]byte(given))
	return verifier.MatchString(given) && subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])),
		[]byte(challenge)) == 1
}
