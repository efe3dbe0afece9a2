package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// source sends uploads with little overhead: it writes the same random block repeatedly, directly
// to the connection.
type source struct{ block []byte }

func newSource() *source {
	s := &source{make([]byte, 1<<20)}
	rand.Read(s.block)
	return s
}

// upload posts a multipart form with one file of the given size. It returns the time until the
// response was read.
func (s *source) upload(ctx context.Context, address, path, token string, size int64) (time.Duration, error) {
	head := "--" + boundary + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"part.stl\"\r\n" +
		"Content-Type: application/octet-stream\r\n\r\n"
	tail := "\r\n--" + boundary + "--\r\n"
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()

	began := time.Now()
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: multipart/form-data; boundary=%s\r\n"+
		"Content-Length: %d\r\n\r\n%s", path, address, token, boundary, int64(len(head)+len(tail))+size, head)
	for left := size; err == nil && left > 0; {
		var n int
		n, err = conn.Write(s.block[:min(left, int64(len(s.block)))])
		left -= int64(n)
	}
	if err == nil {
		_, err = io.WriteString(conn, tail)
	}
	// A server that rejects the upload sends a response and may already have closed the connection.
	response, readErr := http.ReadResponse(bufio.NewReader(conn), nil)
	if readErr != nil {
		if err == nil {
			err = readErr
		}
		return 0, fmt.Errorf("upload to %s: %w", path, err)
	}
	text, _ := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK || err != nil {
		return 0, fmt.Errorf("upload to %s: %s: %.300s (%v)", path, response.Status, text, err)
	}
	return time.Since(began), nil
}
