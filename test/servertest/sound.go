package servertest

import (
	"context"
	"fmt"
	"regexp"
	"testing"
)

var NewID = regexp.MustCompile(`"newId":"(\d+)"`)

// SoundCounts checks that no stored count differs from its rows.
func SoundCounts(t *testing.T, s *Server) {
	t.Helper()
	if changed, err := s.Store.Maintenance.Recount(context.Background()); changed != 0 || err != nil {
		t.Errorf("a recount changed %d counts (%v), want 0", changed, err)
	}
}

// RowsOf returns the rows of a query, each as one text.
func RowsOf(t *testing.T, s *Server, query string) (all []string) {
	t.Helper()
	rows, err := OpenDB(t, s).SQL().Query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(values...))
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return all
}
