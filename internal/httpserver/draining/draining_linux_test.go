package draining

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// acceptAttempts removes the packet filter that dropAttempts attached.
func acceptAttempts(conn syscall.RawConn) error {
	var failed error
	err := conn.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0)
	})
	return errors.Join(err, failed)
}

// TestStopConnecting checks that no connection is established after the call, that a connection in
// the accept queue is accepted, and that the listener refuses connections once it is closed.
func TestStopConnecting(t *testing.T) {
	listener, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := listener.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := dropAttempts(conn); errors.Is(err, syscall.EPERM) {
		t.Skip("this kernel lets only processes with CAP_NET_ADMIN filter packets of TCP sockets")
	} else if err != nil {
		t.Fatal(err)
	}
	if err := acceptAttempts(conn); err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	waiting, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer waiting.Close()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		StopConnecting(t.Context(), listener)
	}()
	connected := func() bool {
		conn, err := net.DialTimeout("tcp", address, 200*time.Millisecond)
		if err == nil {
			t.Cleanup(func() { conn.Close() })
		} else if timeout := net.Error(nil); !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Fatal(err)
		}
		return err == nil
	}
	for late := time.Now().Add(time.Minute); connected(); {
		if time.Now().After(late) {
			t.Fatal("connections are still established after a minute")
		}
	}
	select {
	case <-stopped:
		t.Error("it did not wait for the connections that are not accepted")
	default:
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("x"))
			conn.Close()
		}
	}()
	<-stopped
	if got, err := io.ReadAll(waiting); err != nil || string(got) != "x" {
		t.Errorf("the connection that was waiting: got %q, %v", got, err)
	}
	if connected() {
		t.Error("a connection was established afterwards")
	}
	listener.Close()
	if conn, err := net.Dial("tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
		if err == nil {
			conn.Close()
		}
		t.Errorf("after the end: got %v, want the connection refused", err)
	}
}
