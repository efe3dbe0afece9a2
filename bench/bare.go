package main

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
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
	case "files":
		handler, err = bareSelects(ctx, args[1:], bareFiles, selectFile)
	case "listing":
		handler, err = bareSelects(ctx, args[1:], bareListing, selectNewest, selectNodes, selectLists)
	case "peers":
		handler, err = bareSelects(ctx, args[1:], barePeers, selectFile, selectNewest, selectFileJSON, selectPageJSON, insertDownload, selectToken, selectShownFile)
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

// bareSelects returns a handler that runs prepared statements. args are the engine, the database
// and the base URL. routes returns the handler for the prepared queries.
func bareSelects(ctx context.Context, args []string, routes func(e engine, base string, prepared []selection) http.Handler, queries ...string) (http.Handler, error) {
	if len(args) != 3 {
		return nil, fmt.Errorf("want engine, database and base, not %q", args)
	}
	e := engine(args[0])
	prepare, err := openBare(ctx, e, args[1])
	if err != nil {
		return nil, err
	}
	prepared := make([]selection, len(queries))
	for i, query := range queries {
		if prepared[i], err = prepare(query); err != nil {
			return nil, err
		}
	}
	return routes(e, args[2], prepared), nil
}

// writeJSON writes a value as a JSON response.
func writeJSON(w http.ResponseWriter, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
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
