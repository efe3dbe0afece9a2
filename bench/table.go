package main

import (
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
)

// series are the figures of one thing that was measured several times.
type series []float64

func (s series) median() float64 {
	sorted := slices.Sorted(slices.Values(s))
	if len(sorted) == 0 {
		return 0
	}
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// over divides figure by figure: the two of a pair were taken one after the other, and share what the machine's other
// work did to them.
func (s series) over(other series) series {
	ratios := make(series, min(len(s), len(other)))
	for i := range ratios {
		ratios[i] = s[i] / other[i]
	}
	return ratios
}

// minus subtracts figure by figure.
func (s series) minus(other series) series {
	differences := make(series, min(len(s), len(other)))
	for i := range differences {
		differences[i] = s[i] - other[i]
	}
	return differences
}

// table is printed line by line under a title.
type table struct{ w *tabwriter.Writer }

func newTable(format string, args ...any) *table {
	fmt.Printf("\n"+format+"\n", args...)
	t := &table{tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)}
	fmt.Fprintf(t.w, "\tmedian\tmin\tmax\t\t\t\n")
	return t
}

// row prints median, least and most, each in format.
func (t *table) row(name, format string, s series) { t.print(name, format, s, "", "") }

// atLeast prints a row whose median has a lower bound.
func (t *table) atLeast(name, format string, s series, bound float64) {
	t.print(name, format, s, fmt.Sprintf("target ≥ "+format, bound), verdict(s.median() >= bound))
}

// below prints a row of which every figure has an upper bound.
func (t *table) below(name, format string, s series, bound float64) {
	t.print(name, format, s, fmt.Sprintf("target < "+format, bound), verdict(slices.Max(s) < bound))
}

func (t *table) print(name, format string, s series, target, verdict string) {
	fmt.Fprintf(t.w, "%s\t"+format+"\t"+format+"\t"+format+"\t%s\t%s\t\n", name, s.median(), slices.Min(s), slices.Max(s), target, verdict)
}

func (t *table) end() error { return t.w.Flush() }

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "MISSED"
}
