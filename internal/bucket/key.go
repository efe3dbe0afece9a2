package bucket

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// The key prefixes. Other objects in the bucket are left alone.
const (
	PendingPrefix = "pending/"
	ContentPrefix = "files/"
	DerivedPrefix = "derived/"
	StagedPrefix  = "staged/" // see [Staged]
	markPrefix    = "mark/"
)

var prefixes = []string{PendingPrefix, ContentPrefix, DerivedPrefix, StagedPrefix, markPrefix}

// partialSuffix is the suffix of temporary files.
const partialSuffix = ".tmp"

// ContentKey returns the key of the content with a SHA-256 in lower-case hex.
func ContentKey(sha256 string) string { return ContentPrefix + sha256 }

// DerivedKey returns the key of an object derived from the content with a SHA-256 in lower-case
// hex. name consists of letters, digits, '-', '_' and '.'.
func DerivedKey(sha256, name string) string { return DerivedPrefix + sha256 + "." + name }

// ContentOf returns the SHA-256 of the content that a derived object belongs to.
func ContentOf(derivedKey string) string {
	sha256, _, _ := strings.Cut(strings.TrimPrefix(derivedKey, DerivedPrefix), ".")
	return sha256
}

// randomName returns a unique name of 160 random bits.
func randomName() string {
	var b [20]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// checkKey checks that a key is a plain name below one of the prefixes, so that no key leaves the
// directory, names the directory itself, or needs escaping.
func checkKey(key string) error {
	for _, prefix := range prefixes {
		if name, ok := strings.CutPrefix(key, prefix); ok && plain(name) {
			return nil
		}
	}
	return fmt.Errorf("object key %q: must be a prefix and a plain name", key)
}

func checkDerived(key string) error {
	if !strings.HasPrefix(key, DerivedPrefix) || strings.HasSuffix(key, partialSuffix) {
		return fmt.Errorf("derived key %q: must begin with derived/ and must not end in .tmp", key)
	}
	return errors.Join(checkKey(key), checkContent(ContentPrefix+ContentOf(key)))
}

func checkPending(key string) error {
	if !strings.HasPrefix(key, PendingPrefix) || strings.HasSuffix(key, partialSuffix) {
		return fmt.Errorf("pending key %q: must begin with pending/ and must not end in .tmp", key)
	}
	return checkKey(key)
}

func checkContent(key string) error {
	sum := strings.TrimPrefix(key, ContentPrefix)
	if raw, err := hex.DecodeString(sum); err != nil || len(raw) != 32 || sum != strings.ToLower(sum) {
		return fmt.Errorf("SHA-256 %q: must be 64 hex digits in lower case", sum)
	}
	return nil
}

func plain(name string) bool {
	const letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_."
	return name != "" && name[0] != '.' && len(name) <= 255 && strings.Trim(name, letters) == ""
}
