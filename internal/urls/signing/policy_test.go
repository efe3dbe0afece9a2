package signing

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var (
	key  = Key("0123456789abcdef0123456789abcdef")
	form = Form{FileID: 42, Name: "Größe \"1\".stl", Redirect: "http://x/files/42/finalize", Limit: 1 << 20,
		Expires: time.Unix(1_800_000_000, 0)}
)

func fields(t *testing.T) map[string]string {
	t.Helper()
	list, err := key.Fields(form)
	if err != nil {
		t.Fatal(err)
	}
	m := make(map[string]string)
	for _, f := range list {
		m[f.Name] = f.Value
	}
	return m
}

func TestFormComesBack(t *testing.T) {
	got, err := key.CheckForm(fields(t), form.Expires.Add(-time.Second))
	if err != nil || got.FileID != 42 || got.Redirect != form.Redirect || got.Limit != form.Limit ||
		!got.Expires.Equal(form.Expires) {
		t.Errorf("got %+v, %v", got, err)
	}
	less := fields(t)
	for _, name := range []string{"AWSAccessKeyId", "bucket", "acl", "success_action_redirect", "Content-Type",
		"Content-Disposition"} {
		delete(less, name)
	}
	if got, err := key.CheckForm(less, form.Expires.Add(-time.Second)); err != nil || got.FileID != 42 ||
		got.Redirect != form.Redirect {
		t.Errorf("without what may be missing: %+v, %v", got, err)
	}
}

func TestFormIsRefused(t *testing.T) {
	if _, err := key.CheckForm(fields(t), form.Expires); err == nil {
		t.Error("at its end: taken")
	}
	if _, err := (Key("another")).CheckForm(fields(t), form.Expires.Add(-time.Second)); err == nil {
		t.Error("under another key: taken")
	}
	for name := range fields(t) {
		changed := fields(t)
		changed[name] += "x"
		if _, err := key.CheckForm(changed, form.Expires.Add(-time.Second)); err == nil {
			t.Errorf("%s changed: taken", name)
		}
	}
}

func TestSignaturesDiffer(t *testing.T) {
	seen := make(map[string][]string)
	for _, parts := range [][]string{{"a", "b", "c"}, {"a", "bc"}, {"ab", "c"}, {"abc"}, {"a", "b", "c", ""}} {
		s := key.Sign(parts[0], parts[1:]...)
		if other := seen[s]; other != nil {
			t.Errorf("%q and %q have one signature", parts, other)
		}
		seen[s] = parts
		if !key.Verify(s, parts[0], parts[1:]...) || key.Verify(s+"A", parts[0], parts[1:]...) ||
			key.Verify("", parts[0], parts[1:]...) {
			t.Errorf("%q: its signature is not verified", parts)
		}
	}
}

func FuzzCheckForm(f *testing.F) {
	f.Add("eyJ9", "pending/1", "x")
	f.Fuzz(func(t *testing.T, policy, object, field string) {
		encoded := base64.StdEncoding.EncodeToString([]byte(policy))
		got, err := key.CheckForm(map[string]string{"policy": encoded, "signature": key.Sign("form", encoded), "key": object,
			"acl": field}, time.Unix(0, 0))
		if err == nil && !strings.Contains(policy, "key") {
			t.Errorf("policy %q is taken as %+v", policy, got)
		}
	})
}

// FuzzForm checks that a form that is submitted unchanged is accepted, and that any change is
// rejected.
func FuzzForm(f *testing.F) {
	f.Add(int64(5), "fox.stl", "http://localhost/files/5", int64(1000), uint8(2), "x")
	f.Add(int64(-1), "a\"\\;\x00\xff.stl", "", int64(1)<<60, uint8(7), "")
	f.Fuzz(func(t *testing.T, id int64, name, redirect string, limit int64, field uint8, value string) {
		now := time.Unix(1_774_969_445, 0)
		limit &= 1<<50 - 1 // in a policy, as in JavaScript, numbers are limited to 2^53
		fields, err := key.Fields(Form{FileID: id, Name: name, Redirect: redirect, Limit: limit, Expires: now.Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		sent := make(map[string]string)
		for _, field := range fields {
			sent[field.Name] = field.Value
		}
		got, err := key.CheckForm(sent, now)
		if utf8.ValidString(redirect) && (err != nil || got.FileID != id || got.Redirect != redirect || got.Limit != limit) {
			t.Errorf("%v: %+v, %v", sent, got, err)
		}
		changed := fields[int(field)%len(fields)]
		if sent[changed.Name] == value {
			return
		}
		sent[changed.Name] = value
		if got, err := key.CheckForm(sent, now); err == nil {
			t.Errorf("%s is %q, and it is taken as %+v", changed.Name, value, got)
		}
	})
}
