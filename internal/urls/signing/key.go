// Package signing signs what the server issues and later accepts: URLs of files that work without a
// token, and the policies of upload forms. Signatures are HMACs with a [Key] that all servers on
// one database share. Each has a purpose, so a signature for one purpose is not valid for another.
// The package does not store what it signs.
package signing

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// Key is the secret that all servers on one database share.
type Key []byte

// Sign returns the HMAC-SHA256 of purpose and parts in base64url. Each part is preceded by its
// length, so that different lists of parts never produce the same input. purpose prevents the use
// of a signature in another place.
func (k Key) Sign(purpose string, parts ...string) string {
	input := appendPart(make([]byte, 0, 128), purpose)
	for _, part := range parts {
		input = appendPart(input, part)
	}
	mac := hmac.New(sha256.New, k)
	mac.Write(input)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(input[:0]))
}

func appendPart(b []byte, part string) []byte {
	return append(binary.BigEndian.AppendUint64(b, uint64(len(part))), part...)
}

// Verify reports whether signature is that of purpose and parts, in constant time.
func (k Key) Verify(signature, purpose string, parts ...string) bool {
	return hmac.Equal([]byte(signature), []byte(k.Sign(purpose, parts...)))
}
