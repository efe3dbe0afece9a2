package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is the output of git describe for the source. make build sets it with -ldflags.
var version string

// about describes the binary: its version, the Go release that built it, and its commit if the Go
// tool recorded one.
func about() string {
	named, commit := version, ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if main := info.Main.Version; named == "" && main != "(devel)" {
			named = main // set by go install MODULE@VERSION
		}
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				commit = ", commit " + setting.Value
			}
		}
	}
	return fmt.Sprintf("meshyard %s%s, %s %s/%s", cmp.Or(named, "development build"), commit, runtime.Version(),
		runtime.GOOS, runtime.GOARCH)
}

type versionCmd struct{}

func (versionCmd) Run() error {
	stdout.println(about())
	return nil
}
