package bucket

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// The folders of a bucket. Everything else in it is left alone.
const (
	PendingPrefix = "pending/"
	ContentPrefix = "files/"
	DerivedPrefix = "derived/"
)

var prefixes = []string{PendingPrefix, ContentPrefix, DerivedPrefix}

// partialSuffix ends the names of unfinished files.
const partialSuffix = ".tmp"

// ContentKey is the key of the content with this SHA-256, given in lower hex.
func ContentKey(sha256 string) string { return ContentPrefix + sha256 }

// DerivedKey is the key of what was made of the content with this SHA-256, given in lower hex, under a name of letters, digits, '-', '_' and '.'.
func DerivedKey(sha256, name string) string { return DerivedPrefix + sha256 + "." + name }

// ContentOf gives the SHA-256 of the content that a derived object was made of.
func ContentOf(derivedKey string) string {
	sha256, _, _ := strings.Cut(strings.TrimPrefix(derivedKey, DerivedPrefix), ".")
	return sha256
}

// randomName never meets another one: 160 random bits.
func randomName() string {
	var b [20]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// checkKey keeps every key a plain name in one of the folders, so that no
// key climbs out of a directory, names the folder itself, or needs escaping
// to mean the same on both kinds of bucket.
func checkKey(key string) error {
	for _, prefix := range prefixes {
		if name, ok := strings.CutPrefix(key, prefix); ok && plain(name) {
			return nil
		}
	}
	return fmt.Errorf("bad object key %q", key)
}

func checkDerived(key string) error {
	if !strings.HasPrefix(key, DerivedPrefix) || strings.HasSuffix(key, partialSuffix) {
		return fmt.Errorf("bad derived key %q", key)
	}
	return errors.Join(checkKey(key), checkContent(ContentPrefix+ContentOf(key)))
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
