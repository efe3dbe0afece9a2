package main

import (
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/clientip"
)

// This file has a bare handler that also does the work that the server must do for each request: it
// checks the token and the visibility, and writes a log line. It shows how much of the difference
// between the server and a bare handler this work causes.

const (
	selectToken = "SELECT user_id FROM tokens WHERE sha256 = $1 AND revoked_at IS NULL"

	// selectShownFile selects a fileRow, including the downloads that are not yet added to the stored
	// count, and the columns that decide whether the caller can see the file.
	selectShownFile = "SELECT f.id, f.name, f.size, f.md5, f.rank, " +
		"f.download_count + (SELECT count(*) FROM new_downloads AS nd WHERE nd.thing_id = f.thing_id AND nd.file_id = f.id), f.created_at, " +
		"f.owner_id, coalesce(t.state, ''), coalesce(t.owner_id, 0) FROM files AS f LEFT JOIN things AS t ON t.id = f.thing_id WHERE f.id = $1"
)

// bareShownFile serves a file by ID to callers who are allowed to see it, and logs each request.
func bareShownFile(base string, token, find selection) http.HandlerFunc {
	logger := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	var users sync.Map // by token hash
	caller := func(r *http.Request) (user int64, err error) {
		secret, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		hash := auth.HashSecret(secret)
		if known, ok := users.Load(hash); ok {
			return known.(int64), nil
		}
		if err := token(r.Context(), func(scan scanner) error { return scan(&user) }, hash); err != nil || user == 0 {
			return 0, err
		}
		users.Store(hash, user)
		return user, nil
	}
	serve := func(w http.ResponseWriter, r *http.Request) (status int, user int64) {
		id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		if err != nil {
			return http.StatusNotFound, 0
		}
		if user, err = caller(r); err != nil || user == 0 {
			return http.StatusUnauthorized, 0
		}
		f, at := fileRow{}, moment{e: postgres}
		var owner, thingOwner int64
		var state string
		err = find(r.Context(), func(scan scanner) error {
			return scan(&f.id, &f.name, &f.size, &f.md5, &f.rank, &f.downloads, at.column(), &owner, &state, &thingOwner)
		}, id)
		if err != nil {
			return http.StatusInternalServerError, user
		}
		if f.id == 0 || state != "published" && owner != user && thingOwner != user {
			return http.StatusNotFound, user
		}
		if f.created, err = at.time(); err != nil {
			return http.StatusInternalServerError, user
		}
		writeJSON(w, f.response(base))
		return http.StatusOK, user
	}
	return func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		status, user := serve(w, r)
		if status != http.StatusOK {
			http.Error(w, http.StatusText(status), status)
		}
		logger.LogAttrs(r.Context(), slog.LevelInfo, "request", slog.String("client", clientip.Address(r)), slog.String("method", r.Method),
			slog.String("path", r.URL.Path), slog.Int("status", status), slog.Float64("ms", float64(time.Since(began).Microseconds())/1000), slog.Int64("user_id", user))
	}
}
