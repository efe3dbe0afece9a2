package models

import (
	"slices"
	"testing"
)

// TestPreviewTurns checks that one owner cannot occupy all workers of a process that has several.
func TestPreviewTurns(t *testing.T) {
	var turns previewTurns
	full := func(workers int, want ...int64) {
		t.Helper()
		got := turns.full(workers)
		slices.Sort(got)
		if want = append([]int64{-1}, want...); !slices.Equal(got, want) {
			t.Errorf("%d workers: full are %v, want %v", workers, got, want)
		}
	}
	full(2)
	turns.begin(7)
	full(1, 7)
	full(2, 7)
	full(3)
	turns.begin(7)
	turns.begin(8)
	full(3, 7)
	full(2, 7, 8)
	turns.end(7)
	turns.end(7)
	full(2, 8)
	turns.end(8)
	full(2)
}
