package tokenize

import (
	"strings"
	"unicode/utf8"
)

// Tolerance returns how many typing errors are tolerated in a word: none below four characters and
// in numbers, one below eight, otherwise two.
func Tolerance(word string) int {
	switch n := utf8.RuneCountInString(word); {
	case n < 4 || strings.Trim(word, "0123456789") == "":
		return 0
	case n < 8:
		return 1
	}
	return 2
}

// Distance returns the optimal string alignment distance of a and b: the number of deletions,
// insertions, substitutions and swaps of neighboring characters. It returns limit+1 if the
// distance exceeds limit.
func Distance(a, b string, limit int) int {
	if d := utf8.RuneCountInString(a) - utf8.RuneCountInString(b); d > limit || -d > limit {
		return limit + 1
	}
	x, y := []rune(a), []rune(b)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit && i > 1 { // a swap may still reduce the distance by one from the row before
			if lastLeast := minOf(last); lastLeast > limit {
				return limit + 1
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(y)], limit+1)
}

func minOf(row []int) int {
	least := row[0]
	for _, d := range row {
		least = min(least, d)
	}
	return least
}
