package bucket

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
)

// The two folders of a bucket. Everything else in it is left alone.
const (
	PendingPrefix = "pending/"
	ContentPrefix = "files/"
)

// partialSuffix ends the names of unfinished files.
const partialSuffix = ".tmp"

// ContentKey is the key of the content with this SHA-256, given in lower hex.
func ContentKey(sha256 string) string { return ContentPrefix + sha256 }

// randomName never meets another one: 160 random bits.
func randomName() string {
	var b [20]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// checkKey keeps every key a plain name in one of the two folders, so that no
// key climbs out of a directory, names the folder itself, or needs escaping
// to mean the same on both kinds of bucket.
func checkKey(key string) error {
	name, ok := strings.CutPrefix(key, PendingPrefix)
	if !ok {
		name, ok = strings.CutPrefix(key, ContentPrefix)
	}
	if !ok || !plain(name) {
		return fmt.Errorf("bad object key %q", key)
	}
	return nil
}

func checkPending(key string) error {
	if !strings.HasPrefix(key, PendingPrefix) || strings.HasSuffix(key, partialSuffix) {
		return fmt.Errorf("bad pending key %q", key)
	}
	return checkKey(key)
}

func checkContent(key string) error {
	sum := strings.TrimPrefix(key, ContentPrefix)
	if raw, err := hex.DecodeString(sum); err != nil || len(raw) != 32 || sum != strings.ToLower(sum) {
		return fmt.Errorf("bad SHA-256 %q", sum)
	}
	return nil
}

func plain(name string) bool {
	const letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_."
	return name != "" && name[0] != '.' && len(name) <= 255 && strings.Trim(name, letters) == ""
}
