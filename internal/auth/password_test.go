package auth

import (
	"testing"

	"github.com/alexedwards/argon2id"
)

// TestUnknownHashParameters checks that the hash that stands for a missing one takes as much work
// to compare as the hash of a user.
func TestUnknownHashParameters(t *testing.T) {
	known, err := HashPassword(t.Context(), "correct horse battery staple")
	if err != nil {
		t.Fatal(err)
	}
	unknown, err := unknownHash()
	if err != nil {
		t.Fatal(err)
	}
	want, _, _, err := argon2id.DecodeHash(known)
	if err != nil {
		t.Fatal(err)
	}
	if got, _, _, err := argon2id.DecodeHash(unknown); err != nil || *got != *want {
		t.Errorf("an unknown name is compared with a hash of %+v, %v, want %+v", got, err, want)
	}
}

// TestCheckPasswordWithoutHash checks that no password matches an empty hash.
func TestCheckPasswordWithoutHash(t *testing.T) {
	for _, password := range []string{"", "correct horse battery staple"} {
		if good, err := CheckPassword(t.Context(), password, ""); good || err != nil {
			t.Errorf("%q: %v, %v, want false", password, good, err)
		}
	}
}
