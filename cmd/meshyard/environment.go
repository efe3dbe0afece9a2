package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/meshyard/meshyard/internal/config"
)

// removeEmptyVariables removes the empty variables of settings from the environment. Docker Compose
// and other programs pass variables that nobody set as empty ones.
func removeEmptyVariables() {
	for _, entry := range os.Environ() {
		if name, value, _ := strings.Cut(entry, "="); value == "" && strings.HasPrefix(name, config.Prefix) {
			os.Unsetenv(name)
		}
	}
}

// fromFile returns the value of a flag from the file that the variable of the flag with the suffix
// _FILE names, or nil if that is not set.
func fromFile(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, name := range flag.Envs {
		path := os.Getenv(name + config.FileSuffix)
		if path == "" {
			continue
		}
		if os.Getenv(name) != "" {
			return nil, fmt.Errorf("%s and %s%s are both set: set only one", name, name, config.FileSuffix)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("%s%s: %w", name, config.FileSuffix, err)
		}
		value := strings.TrimRight(string(text), "\r\n")
		if value == "" {
			return nil, fmt.Errorf("%s%s: %s is empty", name, config.FileSuffix, path)
		}
		return value, nil
	}
	return nil, nil
}

// nameVariable adds to an error that begins with the name of a flag the environment variable that
// the value is from, unless the flag is one of the arguments.
func nameVariable(err error, flags []*kong.Flag, args []string) error {
	text, _, _ := strings.Cut(err.Error(), " (from envar ") // kong adds this to some errors
	named := flagName.FindString(text)
	if slices.ContainsFunc(args, func(arg string) bool { return flagName.FindString(arg) == named }) {
		return err
	}
	for _, flag := range flags {
		if named != "--"+flag.Name {
			continue
		}
		for _, name := range flag.Envs {
			if os.Getenv(name) == "" {
				name += config.FileSuffix
			}
			if os.Getenv(name) != "" && !strings.Contains(text, name) {
				return fmt.Errorf("%s (from the environment variable %s)", text, name)
			}
		}
	}
	return err
}

var flagName = regexp.MustCompile("^--[a-z0-9-]+")
