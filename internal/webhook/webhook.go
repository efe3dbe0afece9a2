// Package webhook signs messages to webhooks as Standard Webhooks 1.0 specifies
// (https://www.standardwebhooks.com). Package sender sends them.
package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"
)

// secretPrefix is the prefix of secrets. It allows secret scanners to recognize them.
const secretPrefix = "whsec_"

// Message is a message to a webhook.
type Message struct {
	ID      string // the same for all attempts
	URL     string
	Secrets []string // the message is signed with each
	Body    []byte
}

// Result is the outcome of an attempt to deliver a message.
type Result struct {
	Status int // of the response; 0 if there was none
	// Error is the reason why the attempt failed, for the owner of the webhook. It is empty if the
	// attempt succeeded.
	Error      string
	RetryAfter time.Duration // how long the receiver asks to wait; 0 if it does not
}

// NewSecret returns a random secret of 256 bits.
func NewSecret() string {
	random := make([]byte, 32)
	rand.Read(random) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(random)
}

// NewID returns the id of a new message.
func NewID() string { return "msg_" + rand.Text() }

// Signature returns the value of the header webhook-signature for an attempt at the given time: one
// signature for each secret, separated by spaces.
func (m Message) Signature(at time.Time) (string, error) {
	signatures := make([]string, len(m.Secrets))
	for i, secret := range m.Secrets {
		encoded, ok := strings.CutPrefix(secret, secretPrefix)
		key, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil {
			return "", errors.New("the secret of the webhook is not one")
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(m.ID + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(m.Body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(signatures, " "), nil
}
