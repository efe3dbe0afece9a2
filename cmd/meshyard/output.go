package main

import (
	"fmt"
	"os"
	"sync"
)

// stdout is the standard output of all commands.
var stdout = new(output)

// output writes to standard output and keeps the first error, so that main can report it: a command
// whose result nobody can read must not succeed.
type output struct {
	mu  sync.Mutex
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := os.Stdout.Write(p)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// failed returns the error of the first write that failed, or nil.
func (o *output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

func (o *output) print(values ...any)                 { _, _ = fmt.Fprint(o, values...) }
func (o *output) println(values ...any)               { _, _ = fmt.Fprintln(o, values...) }
func (o *output) printf(format string, values ...any) { _, _ = fmt.Fprintf(o, format, values...) }
