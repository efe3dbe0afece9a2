package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// series has repeated measurements of one value.
type series []float64

func (s series) median() float64 {
	sorted := slices.Sorted(slices.Values(s))
	if len(sorted) == 0 {
		return 0
	}
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// over divides element by element. The two values of a pair were measured in succession, under
// similar conditions.
func (s series) over(other series) series {
	ratios := make(series, min(len(s), len(other)))
	for i := range ratios {
		ratios[i] = s[i] / other[i]
	}
	return ratios
}

// spread returns the median with the minimum and the maximum.
func (s series) spread() string {
	return fmt.Sprintf("%.2f (%.2f–%.2f)", s.median(), slices.Min(s), slices.Max(s))
}

// printMarkdown prints rows as a Markdown table. The first row is the header.
func printMarkdown(rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for n, row := range rows {
		for i, cell := range row {
			fmt.Printf("| %-*s ", widths[i], cell)
		}
		fmt.Println("|")
		if n == 0 {
			fmt.Println("|" + strings.Repeat("---|", len(row)))
		}
	}
}
