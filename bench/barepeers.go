package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/meshyard/meshyard/internal/urls"
)

// selectFileJSON selects the complete response to fileDocument as text.
const selectFileJSON = `SELECT '{"data":{"file":' || row_to_json(f)::text || '}}' FROM (SELECT CAST(id AS text) AS id, name, size, upper(kind) AS kind, ` +
	`upper(state) AS state, content_type AS "contentType", sha256, md5, rank, created_at AS "createdAt" FROM files WHERE id = $1) AS f`

// selectPageJSON selects the complete response to pageDocument as text.
const selectPageJSON = `SELECT '{"data":{"things":{"nodes":' || json_agg(n)::text || '}}}' FROM (SELECT CAST(t.id AS text) AS id, t.name, t.created_at AS "createdAt", ` +
	`(SELECT row_to_json(c) FROM (SELECT CAST(u.id AS text) AS id, u.username) AS c) AS creator, ` +
	`(SELECT coalesce(json_agg(f), '[]') FROM (SELECT CAST(id AS text) AS id, name, size ` + filesOfOne + ` ORDER BY rank, id LIMIT 100) AS f) AS files ` +
	pageOfThings + withOwner + inOrder + `) AS n`

// insertDownload records a download and returns the name of the file. The bare handler does not
// know its callers, so the user is derived from the file ID.
const insertDownload = `INSERT INTO downloads (user_id, file_id, thing_id, created_at) SELECT 2 + id % 64, id, thing_id, now() FROM files WHERE id = $1 ` +
	`RETURNING (SELECT name FROM files WHERE id = file_id)`

// barePeers returns a handler for the requests of the peers comparison, each with one prepared
// statement, in the order of serveBare. It returns the text from PostgreSQL as the GraphQL
// response.
func barePeers(e engine, base string, prepared []selection) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /files/{id}", bareFile(e, base, prepared[0]))
	mux.HandleFunc("GET /shown/files/{id}", bareShownFile(base, prepared[5], prepared[6]))
	mux.HandleFunc("GET /newest", bareNewest(e, base, prepared[1]))
	mux.HandleFunc("POST /graphql", bareDocuments(e, prepared[2], prepared[3]))
	mux.HandleFunc("GET /files/{id}/download", bareDownload(base, prepared[4]))
	return mux
}

// bareDocuments serves fileDocument and pageDocument. It reads only the variables of the request.
func bareDocuments(e engine, file, page selection) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Variables struct{ ID, After string }
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		query, args := file, []any(nil)
		if id := asked.Variables.ID; id != "" {
			n, err := strconv.ParseInt(id, 10, 64)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			args = []any{n}
		} else {
			after, err := parseCursor(asked.Variables.After)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			query, args = page, after.arguments(e)
		}
		var body []byte
		if err := query(r.Context(), func(scan scanner) error { return scan(&body) }, args...); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	}
}

// bareDownload records a download and redirects to a signed URL of the file.
func bareDownload(base string, record selection) http.HandlerFunc {
	addresses := urls.Builder{Base: base, Key: make([]byte, 32)}
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		var name string
		if err := record(r.Context(), func(scan scanner) error { return scan(&name) }, id); err != nil || name == "" {
			http.Error(w, fmt.Sprint(errors.Join(errors.New("not recorded"), err)), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Location", addresses.SignedBlob(id, name, false, time.Now().Add(time.Hour)))
		w.WriteHeader(http.StatusFound)
	}
}
