package main_test

import "syscall"

func init() {
	dieWithParent = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
