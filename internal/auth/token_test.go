package auth

import (
	"regexp"
	"strings"
	"testing"
)

func TestNewTokenFormat(t *testing.T) {
	form := regexp.MustCompile(`^meshyard_[0-9A-Za-z]{49}$`)
	seen := map[string]bool{}
	used := map[rune]bool{}
	for range 2_000 {
		token := NewToken()
		if _, ok := Hash(token); !form.MatchString(token) || !ok || seen[token] {
			t.Fatalf("token %q is malformed, refused or a duplicate", token)
		}
		seen[token] = true
		for _, r := range NewSecret() {
			used[r] = true
		}
	}
	if len(used) != 62 {
		t.Errorf("secrets use %d different characters, want 62", len(used))
	}
}

func TestHashRefusesTypos(t *testing.T) {
	token := "meshyard_" + strings.Repeat("aB3", 14) + "x" + checksum(strings.Repeat("aB3", 14)+"x")
	if _, ok := Hash(token); !ok {
		t.Fatalf("%q is refused", token)
	}
	for i := len("meshyard_"); i < len(token); i++ {
		typo := []byte(token)
		typo[i] ^= 1
		if _, ok := Hash(string(typo)); ok {
			t.Errorf("a typo in character %d is accepted: %q", i, typo)
		}
	}
	for _, bad := range []string{"", "meshyard_", token[:len(token)-1], token + "x", "x" + token, "my_short",
		"my_" + strings.Repeat("x", 44)} {
		if _, ok := Hash(bad); ok {
			t.Errorf("%q is accepted", bad)
		}
	}
	// The check value of CRC-32 (IEEE), that of "123456789", is 0xCBF43926.
	if got := checksum("123456789"); got != "3jZRME" {
		t.Errorf("checksum of the check value is %q", got)
	}
}

func TestHashAcceptsOldTokens(t *testing.T) {
	old := "my_dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	if hash, ok := Hash(old); !ok || hash != HashSecret(old) {
		t.Errorf("%q is refused: %q", old, hash)
	}
}
