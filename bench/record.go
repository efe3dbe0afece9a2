package main

import (
	"context"
	"database/sql/driver"
	"encoding/gob"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/database"
)

// This file records, for each request, which statements the server sends and what it responds. The
// bare contender repeats both.

// recording is what the server did for a request.
type recording struct {
	Statements []statement
	Response   response
}

// statement is a statement with its arguments. Those that begin and end a transaction have neither
// arguments nor text.
type statement struct {
	Kind statementKind
	Text string
	Args []any
	Tx   int // the connection on which a transaction runs; 0: outside of transactions
}

type statementKind byte

const (
	runs statementKind = iota
	begins
	ends
)

// null is an argument without a value: gob does not encode nil.
type null struct{}

func init() {
	for _, v := range []any{null{}, time.Time{}, []time.Time(nil)} {
		gob.Register(v)
	}
}

// recorder collects the statements of one request at a time.
type recorder struct {
	mu         sync.Mutex
	statements []statement
	conns      map[any]int  // numbers of connections
	inTx       map[int]bool // those with an open transaction
}

// observe adds a statement. See [database.WithObserver].
func (c *recorder) observe(sent database.Sent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conns[sent.Conn] == 0 {
		c.conns[sent.Conn] = len(c.conns) + 1
	}
	conn, s := c.conns[sent.Conn], statement{Text: sent.Text}
	switch verb, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(sent.Text)), " "); verb {
	case "begin":
		s, c.inTx[conn] = statement{Kind: begins}, true
	case "commit", "rollback":
		if !strings.Contains(sent.Text, " ") { // not ROLLBACK TO
			s = statement{Kind: ends, Tx: conn}
			delete(c.inTx, conn)
		}
	}
	for _, arg := range sent.Args {
		s.Args = append(s.Args, plainArg(arg))
	}
	if c.inTx[conn] {
		s.Tx = conn
	}
	c.statements = append(c.statements, s)
}

// plainArg returns an argument as a type that gob encodes.
func plainArg(arg any) any {
	if v, ok := arg.(driver.Valuer); ok {
		arg, _ = v.Value() // the server has converted it before without an error
	}
	v := reflect.ValueOf(arg)
	if arg == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return null{}
	}
	if v.Kind() == reflect.Pointer {
		return plainArg(v.Elem().Interface())
	}
	if _, isTime := arg.(time.Time); isTime {
		return arg
	}
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int()
	case reflect.Bool:
		return v.Bool()
	}
	return arg
}

func (c *recorder) take() []statement {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.statements
	c.statements = nil
	return taken
}

// record sends the requests of all rows to a server in this process, one at a time, and numbers
// them. It changes the database. The server runs no jobs, so all statements are those of requests.
// Requests that only read are sent once before, because the first one fills caches.
func record(ctx context.Context, o options, address string, rows []*row) (all []recording, err error) {
	c := &recorder{conns: make(map[any]int), inTx: make(map[int]bool)}
	s := config.Settings{Data: o.dir, DatabaseURL: address, BaseURL: baseURL, Listen: "127.0.0.1:80", UploadLimit: 1 << 30,
		PendingTTL: 24 * time.Hour, AnonymousRead: true, BucketRedirect: true, SiteName: "Meshyard",
		WebhookTimeout: time.Second}
	if err := s.Complete(); err != nil {
		return nil, err
	}
	a, err := server.Open(database.WithObserver(ctx, c.observe), s, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	handler, err := a.Handler(ctx)
	if err != nil {
		return nil, err
	}
	listener := httptest.NewServer(handler)
	defer listener.Close()
	host := strings.TrimPrefix(listener.URL, "http://")
	for _, row := range rows {
		if !row.writes {
			for _, r := range row.requests {
				if _, err := r.send(ctx, host); err != nil {
					return nil, fmt.Errorf("%s: %w", row.name, err)
				}
			}
		}
		row.statements = nil
		for i, r := range row.requests {
			c.take()
			got, err := r.send(ctx, host)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", row.name, err)
			}
			one := recording{c.take(), got}
			one.Response.Header.Del("Date") // net/http sets it
			all = append(all, one)
			row.requests[i].recording = len(all)
			row.statements = append(row.statements, float64(len(one.Statements)))
		}
	}
	return all, nil
}

// save writes recordings to a file, and load reads them.
func save(name string, all []recording) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(gob.NewEncoder(f).Encode(all), f.Close())
}

func load(name string) (all []recording, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return all, gob.NewDecoder(f).Decode(&all)
}
