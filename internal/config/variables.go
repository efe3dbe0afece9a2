package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Prefix is the prefix of the environment variables of all settings.
const Prefix = "MESHYARD_"

// FileSuffix is the suffix of the environment variable that names a file with the value of a
// setting, so that MESHYARD_SMTP_URL_FILE is for MESHYARD_SMTP_URL.
const FileSuffix = "_FILE"

// otherVariables are variables of the examples and of the samples for deployment.
var otherVariables = []string{"MESHYARD_HOST", "MESHYARD_UPSTREAM", "MESHYARD_URL", "MESHYARD_TOKEN"}

// otherVariable matches the variables of tests, and those that Kubernetes sets for a service named
// meshyard.
var otherVariable = regexp.MustCompile(`^MESHYARD_(TEST_.*|SERVICE_HOST|SERVICE_PORT(_.*)?|PORT(_.*)?)$`)

// UnknownVariables returns a warning for each variable of an environment that begins with MESHYARD_
// and is not known. If its name resembles a known one, the warning names that.
func UnknownVariables(environment, known []string) []string {
	var files []string
	for _, name := range known {
		files = append(files, name+FileSuffix)
	}
	known = slices.Concat(known, files)
	var warnings []string
	for _, entry := range environment {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, Prefix) || slices.Contains(known, name) || slices.Contains(otherVariables, name) ||
			otherVariable.MatchString(name) {
			continue
		}
		warning := "environment variable " + name + " is unknown and has no effect"
		if positive := strings.Replace(name, Prefix+"NO_", Prefix, 1); slices.Contains(known, positive) {
			warning += fmt.Sprintf(": to turn the setting off, set %s=false", positive)
		} else if nearest := nearest(name, known); nearest != "" {
			warning += ": did you mean " + nearest + "?"
		} else {
			warning += ": meshyard serve --help lists the known ones"
		}
		warnings = append(warnings, warning)
	}
	slices.Sort(warnings)
	return warnings
}

// nearest returns the known name with the smallest distance from name, or "" if none is similar.
func nearest(name string, known []string) string {
	best, least := "", 1+(len(name)-len(Prefix))/3
	for _, k := range known {
		if d := levenshtein.ComputeDistance(name, k); d < least {
			best, least = k, d
		}
	}
	return best
}
