package main

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "modernc.org/sqlite" // the driver sqlite
)

// fileRow is what a bare handler reads of a file, in the order of its select.
type fileRow struct {
	id, size, downloads int64
	name, md5           string
	rank                int32
	created             time.Time
}

const selectFile = "SELECT id, name, size, md5, rank, download_count, created_at FROM files WHERE id = $1"

// columns is where a select puts a row; created is where it puts the time.
func (f *fileRow) columns(created any) []any {
	return []any{&f.id, &f.name, &f.size, &f.md5, &f.rank, &f.downloads, created}
}

// fileAnswer has the keys of the wire's FileSchema in their order.
type fileAnswer struct {
	ID            int64     `json:"id"`
	Name          string    `json:"name"`
	Size          int64     `json:"size"`
	URL           string    `json:"url"`
	PublicURL     string    `json:"public_url"`
	DownloadURL   string    `json:"download_url"`
	ThreejsURL    string    `json:"threejs_url"`
	Thumbnail     string    `json:"thumbnail"`
	DefaultImage  *struct{} `json:"default_image"`
	Date          string    `json:"date"`
	FormattedSize string    `json:"formatted_size"`
	MetaData      []int     `json:"meta_data"`
	DownloadCount int64     `json:"download_count"`
	DirectURL     string    `json:"direct_url"`
	Hash          string    `json:"hash"`
	Rank          int32     `json:"rank"`
}

// finder reads a file by id, in the least way that each engine's driver has.
func finder(ctx context.Context, e engine, address string) (func(ctx context.Context, id int64, f *fileRow) error, error) {
	if e == postgres {
		settings, err := pgxpool.ParseConfig(address)
		if err != nil {
			return nil, err
		}
		settings.MaxConns = int32(max(16, 4*runtime.NumCPU())) // as many as the server takes
		pool, err := pgxpool.NewWithConfig(ctx, settings)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, id int64, f *fileRow) error {
			// pgx prepares it on each connection when it first sees it.
			return pool.QueryRow(ctx, selectFile, id).Scan(f.columns(&f.created)...)
		}, nil
	}
	db, err := sql.Open("sqlite", "file:"+address+"?_pragma=busy_timeout(10000)&_pragma=query_only(1)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(max(4, runtime.NumCPU())) // as many as the server takes
	db.SetMaxIdleConns(max(4, runtime.NumCPU()))
	prepared, err := db.PrepareContext(ctx, selectFile)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, id int64, f *fileRow) error {
		var created string // SQLite has no type for it
		err := prepared.QueryRowContext(ctx, id).Scan(f.columns(&created)...)
		if err != nil {
			return err
		}
		f.created, err = time.Parse("2006-01-02 15:04:05.999999-07:00", created)
		return err
	}, nil
}

// bareFiles answers GET /files/{id} with one prepared select on what args name: the engine, the database, and the
// address that answers begin with.
func bareFiles(ctx context.Context, args []string) (http.Handler, error) {
	if len(args) != 3 {
		return nil, fmt.Errorf("want engine, database and base, not %q", args)
	}
	find, err := finder(ctx, engine(args[0]), args[1])
	if err != nil {
		return nil, err
	}
	base := args[2]
	mux := http.NewServeMux()
	mux.HandleFunc("GET /files/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		var f fileRow
		switch err := find(r.Context(), id, &f); {
		case errors.Is(err, sql.ErrNoRows), errors.Is(err, pgx.ErrNoRows):
			http.NotFound(w, r)
			return
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		body, err := json.Marshal(f.answer(base))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	})
	return mux, nil
}

func (f *fileRow) answer(base string) *fileAnswer {
	id := strconv.FormatInt(f.id, 10)
	sum, _ := hex.DecodeString(f.md5)
	size, unit := f.size, 0
	for size >= 1024 && unit < 4 {
		size /= 1024
		unit++
	}
	return &fileAnswer{
		ID: f.id, Name: f.name, Size: f.size,
		URL: base + "/files/" + id, PublicURL: base + "/download:" + id, DownloadURL: base + "/files/" + id + "/download",
		Thumbnail: base + "/renders/default/model.png", DirectURL: base + "/blobs/" + id + "/" + url.PathEscape(f.name),
		Date: f.created.UTC().Format(time.DateTime), FormattedSize: strconv.FormatInt(size, 10) + " " + [...]string{"b", "kb", "mb", "gb", "tb"}[unit],
		MetaData: []int{}, DownloadCount: f.downloads, Hash: base64.StdEncoding.EncodeToString(sum), Rank: f.rank,
	}
}
