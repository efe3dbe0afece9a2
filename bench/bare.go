package main

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

// serveBare runs a bare handler by name. args are its listen address and further arguments.
func serveBare(ctx context.Context, name string, args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("-bare %s: too few arguments", name)
	}
	var handler http.Handler
	var err error
	switch name {
	case "upload":
		handler = bareUpload(args[1])
	case "limit":
		handler, err = limited(ctx, args[1])
	case "replay":
		handler, err = replay(ctx, args[1:])
	default:
		err = fmt.Errorf("-bare %s: unknown handler", name)
	}
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// bareUpload returns a minimal upload handler. It does not parse the form: it hashes and stores the
// whole body.
func bareUpload(folder string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := keep(folder, r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, `{"ok":"ok"}`)
	})
}

func keep(folder string, body io.Reader) (err error) {
	f, err := os.CreateTemp(folder, "upload-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sha, sum := sha256.New(), md5.New()
	if _, err := io.CopyBuffer(io.MultiWriter(f, sha, sum), body, make([]byte, 256<<10)); err != nil {
		return err
	}
	sha.Sum(nil)
	sum.Sum(nil)
	return f.Sync()
}
