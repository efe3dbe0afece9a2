package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/meshyard/meshyard/internal/urls"
)

// This file has the absolute limit: a handler that answers three requests by one statement each, of
// which PostgreSQL makes the complete response. It checks neither tokens nor permissions.

const (
	limitedFile = `SELECT '{"data":{"file":' || row_to_json(f)::text || '}}' FROM (SELECT CAST(id AS text) AS id, name, size, upper(kind) AS kind, ` +
		`upper(state) AS state, content_type AS "contentType", sha256, md5, rank, created_at AS "createdAt" FROM files WHERE id = $1) AS f`

	limitedPage = `SELECT '{"data":{"things":{"nodes":' || json_agg(n)::text || '}}}' FROM (SELECT CAST(t.id AS text) AS id, t.name, t.created_at AS "createdAt", ` +
		`(SELECT row_to_json(c) FROM (SELECT CAST(u.id AS text) AS id, u.username) AS c) AS creator, ` +
		`(SELECT coalesce(json_agg(f), '[]') FROM (SELECT CAST(id AS text) AS id, name, size FROM files WHERE target_type = 'thing' AND target_id = t.id ` +
		`AND state = 'finalized' ORDER BY rank, id LIMIT 100) AS f) AS files ` +
		`FROM (SELECT id, owner_id, name, created_at, published_at FROM things WHERE state = 'published' ORDER BY published_at DESC, id DESC LIMIT 30) AS t ` +
		`JOIN users AS u ON u.id = t.owner_id ORDER BY t.published_at DESC, t.id DESC) AS n`

	// limitedDownload records a download and returns the name of the file. The handler does not know
	// its callers, so the user is derived from the ID.
	limitedDownload = `INSERT INTO downloads (user_id, file_id, thing_id, created_at) SELECT (SELECT min(id) FROM users) + id % 8, id, thing_id, now() ` +
		`FROM files WHERE id = $1 RETURNING (SELECT name FROM files WHERE id = file_id)`
)

// limited returns the handler for a database.
func limited(ctx context.Context, address string) (http.Handler, error) {
	pool, err := openPool(ctx, address)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /graphql", func(w http.ResponseWriter, r *http.Request) { limitDocument(pool, w, r) })
	addresses := urls.Builder{Base: baseURL, Key: make([]byte, 32)}
	mux.HandleFunc("GET /files/{id}/download", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		name := ""
		if err := errors.Join(err, pool.QueryRow(r.Context(), limitedDownload, id).Scan(&name)); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Location", addresses.SignedBlob(id, name, false, time.Now().Add(time.Hour)))
		w.WriteHeader(http.StatusFound)
	})
	return mux, nil
}

// limitDocument serves a file, or the page of newest things if there is no ID. It reads only the
// variables of the request.
func limitDocument(pool *pgxpool.Pool, w http.ResponseWriter, r *http.Request) {
	var asked struct{ Variables struct{ ID string } }
	err := json.NewDecoder(r.Body).Decode(&asked)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var found pgx.Row
	if text := asked.Variables.ID; text != "" {
		id, _ := strconv.ParseInt(text, 10, 64) // no file has the ID 0
		found = pool.QueryRow(r.Context(), limitedFile, id)
	} else {
		found = pool.QueryRow(r.Context(), limitedPage)
	}
	var body []byte
	if err := found.Scan(&body); err != nil {
		http.Error(w, fmt.Sprint(err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}
