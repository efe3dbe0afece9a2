package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"
)

// slowRequests returns what slow clients send before they become slow: the start of a request
// header, of a query, and of an upload.
func slowRequests(address, token string) []string {
	return []string{
		"GET /files/1 HTTP/1.1\r\nHost: " + address + "\r\nX-Slow: ",
		"POST /graphql HTTP/1.1\r\nHost: " + address + "\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{",
		"POST /files/0/uploadFile HTTP/1.1\r\nHost: " + address + "\r\nAuthorization: Bearer " + token + "\r\nContent-Type: multipart/form-data; boundary=b\r\n" +
			"Content-Length: 100000\r\n\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.stl\"\r\n\r\n",
	}
}

// beSlow keeps n connections open and sends a byte on each of them every second. It reopens
// connections that the server closes.
func beSlow(ctx context.Context, address, token string, n int) error {
	requests := slowRequests(address, token)
	clients := make([]net.Conn, n)
	open := func(i int) error {
		conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		clients[i] = conn
		_, err = conn.Write([]byte(requests[i%len(requests)]))
		return err
	}
	for i := range clients {
		if err := open(i); err != nil {
			return fmt.Errorf("client %d: %w", i, err)
		}
	}
	_, _ = os.Stdout.WriteString("!")
	for second := time.NewTicker(time.Second); ctx.Err() == nil; <-second.C {
		for i, conn := range clients {
			if _, err := conn.Write([]byte(" ")); err != nil {
				_ = conn.Close()
				if err := open(i); err != nil {
					fmt.Fprintln(os.Stderr, "bench: crowd:", err)
				}
			}
		}
	}
	return nil
}
