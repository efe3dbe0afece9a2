package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// This file has the bare contender. For a request it sends the statements that the server sent, on
// as many connections, and writes the response that the server wrote. So the server can only be as
// fast if everything besides the database and net/http costs nothing.
//
// Two things differ. Statements are prepared and run one after the other, where the server may
// write values into their text, or run several concurrently. And the changes of a transaction are
// undone before it is committed, so that a request can be repeated: the second insert of the same
// row would fail. The commit is as expensive as any other.

// executor runs statements on a database. It is one of the two engines.
type executor interface {
	// run runs a statement outside of transactions, and reads all rows.
	run(ctx context.Context, s *statement) error
	// begin begins a transaction, which has a connection until end is called.
	begin(ctx context.Context) (transaction, error)
}

type transaction interface {
	run(ctx context.Context, s *statement) error
	end(ctx context.Context) error
}

// replay returns a handler that repeats recordings. args are the engine, the database and the file
// with the recordings.
func replay(ctx context.Context, args []string) (http.Handler, error) {
	if len(args) != 3 {
		return nil, fmt.Errorf("want engine, database and file, not %q", args)
	}
	all, err := load(args[2])
	if err != nil {
		return nil, err
	}
	for i := range all {
		for k := range all[i].Statements {
			for n, arg := range all[i].Statements[k].Args {
				if _, none := arg.(null); none {
					all[i].Statements[k].Args[n] = nil
				}
			}
		}
	}
	var db executor
	if engine(args[0]) == postgres {
		db, err = openReplayPostgres(ctx, args[1])
	} else {
		db, err = openReplaySQLite(ctx, strings.TrimPrefix(args[1], "sqlite:"))
	}
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		n, err := strconv.Atoi(r.Header.Get(recordingHeader))
		if err != nil || n < 1 || n > len(all) {
			http.Error(w, "no recording", http.StatusNotFound)
			return
		}
		if err := all[n-1].repeat(r.Context(), db); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		all[n-1].Response.write(w)
	}), nil
}

// repeat sends the statements of a request.
func (r *recording) repeat(ctx context.Context, db executor) error {
	open := make(map[int]transaction)
	for i := range r.Statements {
		s := &r.Statements[i]
		tx := open[s.Tx]
		var err error
		switch {
		case s.Kind == begins:
			open[s.Tx], err = db.begin(ctx)
		case s.Kind == ends:
			delete(open, s.Tx)
			err = tx.end(ctx)
		case tx != nil:
			err = tx.run(ctx, s)
		default:
			err = db.run(ctx, s)
		}
		if err != nil {
			for _, tx := range open {
				_ = tx.end(ctx)
			}
			return fmt.Errorf("%.1000s %v: %w", s.Text, s.Args, err)
		}
	}
	return nil
}

// write writes the response.
func (r *response) write(w http.ResponseWriter) {
	header := w.Header()
	for name, values := range r.Header {
		header[name] = values
	}
	header.Set("Content-Length", strconv.Itoa(len(r.Body)))
	w.WriteHeader(r.Status)
	_, _ = w.Write(r.Body)
}
