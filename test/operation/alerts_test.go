package operation_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// timeline is the metrics of a server during an outage, as Prometheus scrapes them every 15
// seconds. promtool evaluates the alert rules in deploy/prometheus on it.
type timeline struct {
	t       *testing.T
	server  *servertest.Server
	scrapes []map[string]string // values by name and labels
}

// scraped matches a sample in the text format of Prometheus, with its name, labels and value.
var scraped = regexp.MustCompile(`(?m)^(meshyard_\w+(?:\{[^}]*\})?) (\S+)$`)

// scrape scrapes the metrics once and adds the result n times, as if nothing happened in between.
func (l *timeline) scrape(n int) {
	l.t.Helper()
	values := make(map[string]string)
	for _, sample := range scraped.FindAllStringSubmatch(servertest.Scrape(l.t, l.server), -1) {
		if !strings.HasSuffix(sample[1], "_free_bytes") { // disks of tests are small
			values[sample[1]] = sample[2]
		}
	}
	l.scrapes = append(l.scrapes, slices.Repeat([]map[string]string{values}, n)...)
}

// The numbers of scrapes before, during and after an outage: one minute, one minute, and six
// minutes.
const scrapesBefore, scrapesDuring, scrapesAfter = 4, 4, 24

// fire checks that exactly these alerts fire at the end of the outage, and none before it and at
// the end of the timeline. It does nothing if promtool is not installed.
func (l *timeline) fire(alerts ...string) {
	l.t.Helper()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		l.t.Log("promtool is not installed: the alert rules are not evaluated")
		return
	}
	folder, err := filepath.Abs("../../deploy/prometheus")
	if err != nil {
		l.t.Fatal(err)
	}
	rules, err := os.ReadFile(filepath.Join(folder, "alerts.yaml"))
	if err != nil {
		l.t.Fatal(err)
	}
	var test strings.Builder
	fmt.Fprintf(&test, "rule_files: [%q]\nevaluation_interval: 15s\ntests:\n  - interval: 15s\n    input_series:\n",
		filepath.Join(folder, "alerts.yaml"))
	fmt.Fprintf(&test, "      - {series: 'up{job=\"meshyard\", instance=\"a\"}', values: \"1x%d\"}\n", len(l.scrapes)-1)
	for _, series := range l.series(string(rules)) {
		var values []string
		for _, at := range l.scrapes {
			value, ok := at[series]
			if !ok {
				value = "_"
			}
			values = append(values, value)
		}
		name, labels, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
		if labels != "" {
			labels += ", "
		}
		fmt.Fprintf(&test, "      - {series: '%s{%sinstance=\"a\"}', values: %q}\n", name, labels, strings.Join(values, " "))
	}
	test.WriteString("    promql_expr_test:\n")
	slices.Sort(alerts)
	for _, at := range []struct {
		scrape int
		firing []string
	}{{scrapesBefore - 1, nil}, {scrapesBefore + scrapesDuring - 1, alerts}, {len(l.scrapes) - 1, nil}} {
		fmt.Fprintf(&test, "      - expr: count by (alertname) (ALERTS{alertstate=\"firing\"})\n        eval_time: %ds\n        exp_samples:\n", 15*at.scrape)
		for _, alert := range at.firing {
			fmt.Fprintf(&test, "          - {labels: '{alertname=%q}', value: 1}\n", alert)
		}
	}
	path := filepath.Join(l.t.TempDir(), "outage.yaml")
	if err := os.WriteFile(path, []byte(test.String()), 0o600); err != nil {
		l.t.Fatal(err)
	}
	if out, err := exec.Command(promtool, "test", "rules", path).CombinedOutput(); err != nil {
		l.t.Errorf("promtool: %v\n%s", err, out)
	}
}

// series returns the scraped series, as names with labels, of the metrics that the rules use.
func (l *timeline) series(rules string) []string {
	used := make(map[string]bool)
	for _, name := range regexp.MustCompile(`meshyard_\w+`).FindAllString(rules, -1) {
		used[name] = true
	}
	found := make(map[string]bool)
	for _, at := range l.scrapes {
		for series := range at {
			if name, _, _ := strings.Cut(series, "{"); used[name] {
				found[series] = true
			}
		}
	}
	var all []string
	for series := range found {
		all = append(all, series)
	}
	slices.Sort(all)
	return all
}
