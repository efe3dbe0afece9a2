package webhook

import (
	"testing"
	"time"
)

// TestSignature compares with the example of the reference libraries of Standard Webhooks.
func TestSignature(t *testing.T) {
	t.Parallel()
	m := Message{ID: "msg_p5jXN8AQM9LWM0D4loKWxJek", Secrets: []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
		Body: []byte(`{"test": 2432232314}`)}
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	if got, err := m.Signature(time.Unix(1614265330, 0)); got != want || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	m.Secrets = append(m.Secrets, m.Secrets[0])
	if got, err := m.Signature(time.Unix(1614265330, 0)); got != want+" "+want || err != nil {
		t.Errorf("with two secrets: got %q, %v", got, err)
	}
	m.Secrets = []string{"whsec_?"}
	if got, err := m.Signature(time.Now()); err == nil {
		t.Errorf("with a bad secret: got %q, want an error", got)
	}
}
