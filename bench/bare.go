package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
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
