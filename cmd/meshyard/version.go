package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is what git describe printed for the source; make build sets it by -ldflags.
var version string

// about describes the binary: its version, its commit where the Go tool recorded one, and the Go
// release that built it.
func about() string {
	named, commit := version, ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if main := info.Main.Version; named == "" && main != "(devel)" {
			named = main // of go install MODULE@VERSION
		}
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				commit = ", commit " + setting.Value
			}
		}
	}
	return fmt.Sprintf("meshyard %s%s, %s %s/%s", cmp.Or(named, "development build"), commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

type versionCmd struct{}

func (versionCmd) Run() error {
	fmt.Println(about())
	return nil
}
