//go:build !linux || arm

package bucket

import "os"

// startWriteback is a hint that only Linux takes (and package syscall lacks it on arm).
func startWriteback(*os.File, int64, int64) {}
