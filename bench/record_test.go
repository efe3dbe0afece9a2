package main

import (
	"context"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/database"
)

// transcript is an executor that writes down what it is asked to do.
type transcript struct{ lines *[]string }

func (t transcript) run(_ context.Context, s *statement) error {
	*t.lines = append(*t.lines, s.Text)
	return nil
}

func (t transcript) begin(context.Context) (transaction, error) {
	*t.lines = append(*t.lines, "begin")
	return transcriptTx(t), nil
}

type transcriptTx transcript

func (t transcriptTx) run(_ context.Context, s *statement) error {
	*t.lines = append(*t.lines, "in it: "+s.Text)
	return nil
}

func (t transcriptTx) end(context.Context) error {
	*t.lines = append(*t.lines, "end")
	return nil
}

// TestRepeat checks that statements are recorded with their arguments, saved, and repeated in the
// same order, those of a transaction in one.
func TestRepeat(t *testing.T) {
	t.Parallel()
	c := &recorder{conns: make(map[any]int), inTx: make(map[int]bool)}
	at, name := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "a"
	for _, sent := range []database.Sent{
		{Text: "SELECT 1", Conn: "x", Args: []any{int32(7), &name, (*string)(nil), at, []int64{1, 2}}},
		{Text: "begin", Conn: "y"}, {Text: "UPDATE a", Conn: "y"}, {Text: "SELECT 2", Conn: "x"},
		{Text: "ROLLBACK TO SAVEPOINT s", Conn: "y"},
		{Text: "commit", Conn: "y"}, {Text: "SELECT 3", Conn: "y"},
	} {
		c.observe(sent)
	}
	file := filepath.Join(t.TempDir(), "recordings")
	if err := save(file, []recording{{Statements: c.take()}}); err != nil {
		t.Fatal(err)
	}
	all, err := load(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := all[0].Statements[0].Args, []any{int64(7), "a", null{}, at, []int64{1, 2}}; !reflect.DeepEqual(got,
		want) {
		t.Errorf("got the arguments %#v, want %#v", got, want)
	}
	var got []string
	if err := all[0].repeat(t.Context(), transcript{&got}); err != nil {
		t.Fatal(err)
	}
	if want := "SELECT 1|begin|in it: UPDATE a|SELECT 2|in it: ROLLBACK TO SAVEPOINT s|end|SELECT 3"; strings.Join(got,
		"|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
