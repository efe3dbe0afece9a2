package main

import (
	"fmt"
	"os"
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
