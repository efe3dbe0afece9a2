package server

import (
	"os"
	"runtime"
)

// addProcessor lets the server run one more thread of Go code at once than it may use processors.
// A thread that waits in a system call, such as the flush of a SQLite commit, counts as running
// until the Go runtime notices, up to 10 ms later. So does a thread that the kernel interrupts for
// another process, such as a PostgreSQL server on the same machine. Without another thread, a
// processor is idle meanwhile although requests wait for it.
//
// If the operator sets GOMAXPROCS, addProcessor does nothing. Otherwise the Go runtime no longer
// follows changes of the CPU limit of a container: the limit at the start counts. Calling
// addProcessor again changes nothing.
func addProcessor() {
	if os.Getenv("GOMAXPROCS") != "" {
		return
	}
	runtime.SetDefaultGOMAXPROCS()
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
}
