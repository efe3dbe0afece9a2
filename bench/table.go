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

// table is a list of lines below a title.
type table struct{ lines [][]string }

func newTable(format string, args ...any) *table {
	fmt.Printf("\n"+format+"\n", args...)
	return &table{[][]string{{"", "median", "min", "max", "", ""}}}
}

// row adds a row with the median, the minimum and the maximum, in the given format.
func (t *table) row(name, format string, s series) { t.add(name, format, s, "", "") }

// atLeast adds a row with a lower bound for the median.
func (t *table) atLeast(name, format string, s series, bound float64) {
	t.add(name, format, s, fmt.Sprintf("target ≥ "+format, bound), outcome(s.median() >= bound))
}

// atMost adds a row with an upper bound for the median.
func (t *table) atMost(name, format string, s series, bound float64) {
	t.add(name, format, s, fmt.Sprintf("target ≤ "+format, bound), outcome(s.median() <= bound))
}

// below adds a row with an upper bound for every value.
func (t *table) below(name, format string, s series, bound float64) {
	t.add(name, format, s, fmt.Sprintf("target < "+format, bound), outcome(slices.Max(s) < bound))
}

func (t *table) add(name, format string, s series, target, outcome string) {
	line := []string{name}
	for _, f := range []float64{s.median(), slices.Min(s), slices.Max(s)} {
		line = append(line, fmt.Sprintf(format, f))
	}
	t.lines = append(t.lines, append(line, target, outcome))
}

func (t *table) print() {
	width := 0
	for _, line := range t.lines {
		width = max(width, utf8.RuneCountInString(line[0]))
	}
	for _, l := range t.lines {
		fmt.Println(strings.TrimRight(fmt.Sprintf("  %-*s %9s %9s %9s   %-16s %s", width, l[0], l[1], l[2], l[3], l[4], l[5]), " "))
	}
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

func outcome(met bool) string {
	if met {
		return "met"
	}
	return "MISSED"
}
