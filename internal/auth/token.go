package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"strings"
)

const (
	// tokenPrefix lets people and secret scanners recognize a leaked token.
	tokenPrefix = "meshyard_"
	// oldTokenPrefix is the prefix of the tokens of earlier versions, followed by 43 characters of
	// base64url and no checksum. They are still accepted.
	oldTokenPrefix = "my_"

	// secretLength is the number of base62 characters that hold at least 256 bits.
	secretLength = 43
	// checksumLength is the number of base62 characters that hold a CRC-32.
	checksumLength = 6

	base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewToken returns a new access token: a prefix, 256 random bits and a checksum, all in characters
// of [0-9A-Za-z_]. The token is shown once; only its Hash is stored.
func NewToken() string {
	secret := NewSecret()
	return tokenPrefix + secret + checksum(secret)
}

// NewSecret returns 256 random bits as 43 characters of [0-9A-Za-z], for client secrets,
// authorization codes and sessions. Only its HashSecret is stored.
func NewSecret() string {
	secret := make([]byte, 0, secretLength)
	var random [64]byte
	for len(secret) < secretLength {
		rand.Read(random[:]) // never fails: crypto/rand terminates the process instead
		for _, b := range random {
			// Bytes above the last multiple of 62 are dropped, so that each character is equally likely.
			if int(b) < 256-256%len(base62) && len(secret) < secretLength {
				secret = append(secret, base62[int(b)%len(base62)])
			}
		}
	}
	return string(secret)
}

// checksum returns the CRC-32 (IEEE) of a token's random part in base62. It allows a mistyped
// token, or a string that only looks like a token, to be rejected without a database query.
func checksum(secret string) string {
	sum := crc32.ChecksumIEEE([]byte(secret))
	var text [checksumLength]byte
	for i := checksumLength - 1; i >= 0; i-- {
		text[i] = base62[sum%uint32(len(base62))]
		sum /= uint32(len(base62))
	}
	return string(text[:])
}

// Hash returns the hash of a token that is stored in the database: its SHA-256 in hex. The token is
// random, so neither a salt nor a slow hash is needed. ok is false for a string that cannot be a
// token, because its form or its checksum is wrong; no database query is needed then.
func Hash(token string) (hash string, ok bool) {
	if rest, found := strings.CutPrefix(token, tokenPrefix); found {
		ok = len(rest) == secretLength+checksumLength && checksum(rest[:secretLength]) == rest[secretLength:]
	} else if rest, found := strings.CutPrefix(token, oldTokenPrefix); found {
		ok = len(rest) == secretLength
	}
	if !ok {
		return "", false
	}
	return HashSecret(token), true
}

// HashSecret returns the hash of a random secret that is stored in the database: its SHA-256 in
// hex.
func HashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
