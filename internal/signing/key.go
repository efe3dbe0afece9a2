// Package signing makes and checks what the server hands out and later believes: addresses of bytes that work
// without a token for a while, and the policies of form uploads.
package signing

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// Key is the secret that all nodes share.
type Key []byte

// Sign gives the HMAC-SHA256 of purpose and parts in base64url. Each part is preceded by its length, so that no two lists
// of parts give the same bytes; the purpose keeps a signature for one use from serving another.
func (k Key) Sign(purpose string, parts ...string) string {
	mac := hmac.New(sha256.New, k)
	var length [8]byte
	for _, part := range append([]string{purpose}, parts...) {
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		mac.Write(length[:])
		mac.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Verify tells whether signature is the one that Sign gives, in a time that tells nothing.
func (k Key) Verify(signature, purpose string, parts ...string) bool {
	return hmac.Equal([]byte(signature), []byte(k.Sign(purpose, parts...)))
}
