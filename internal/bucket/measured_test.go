package bucket

import (
	"slices"
	"testing"
	"time"
)

// testOnCall checks that each kind of call is reported once, and which of them as an error.
func testOnCall(t *testing.T, f fixture) {
	ctx := t.Context()
	var calls, failed []string
	f.OnCall(func(kind string, took time.Duration, err error) {
		calls = append(calls, kind)
		if err != nil {
			failed = append(failed, kind)
		}
	})
	if err := f.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	u := put(t, f.Bucket, random(100))
	if err := f.Promote(ctx, u.Key, u.SHA256, u.Size); err != nil {
		t.Fatal(err)
	}
	for range f.Objects(ctx, "") {
	}
	wantBytes(t, f.Bucket, u.Key, random(100))
	if err := f.Remove(ctx, u.Key); err != nil {
		t.Fatal(err)
	}
	if ok, err := f.Has(ctx, u.Key); ok || err != nil {
		t.Fatal(ok, err)
	}
	_, presigned, _ := f.PresignGet(ctx, ContentKey(u.SHA256), ResponseHeaders{})
	want := []string{"ready", "put", "stat", "promote", "list", "open", "remove", "stat"}
	if presigned {
		want = append(want, "presign")
	}
	if !slices.Equal(calls, want) || len(failed) > 0 {
		t.Errorf("got the calls %q and the errors %q, want %q and none", calls, failed, want)
	}
	if err := f.Promote(ctx, u.Key, u.SHA256[:62]+"00", u.Size); err == nil {
		t.Error("promote of a missing object: got no error")
	}
	if len(failed) > 0 {
		t.Errorf("a missing object: got the errors %q, want none", failed)
	}
}
