// Package filesize formats file sizes for display.
package filesize

import "fmt"

// Format formats a size in bytes in steps of 1024, rounded down: 11084 bytes are "10 kb".
func Format(n int64) string {
	unit := 0
	for n >= 1024 && unit < 4 {
		n /= 1024
		unit++
	}
	return fmt.Sprintf("%d %s", n, [...]string{"b", "kb", "mb", "gb", "tb"}[unit])
}
