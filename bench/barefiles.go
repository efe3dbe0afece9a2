package main

import (
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// fileRow has the columns that a bare handler reads for a file, in the order of its select.
type fileRow struct {
	id, size, downloads int64
	name, md5           string
	rank                int32
	created             time.Time
}

const selectFile = "SELECT id, name, size, md5, rank, download_count, created_at FROM files WHERE id = $1"

func (f *fileRow) scan(e engine, scan scanner) (err error) {
	created := moment{e: e}
	if err := scan(&f.id, &f.name, &f.size, &f.md5, &f.rank, &f.downloads, created.column()); err != nil {
		return err
	}
	f.created, err = created.time()
	return err
}

// fileResponse has the keys of the REST type FileSchema, in the same order.
type fileResponse struct {
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

// bareFiles returns a handler that serves GET /files/{id} with selectFile.
func bareFiles(e engine, base string, prepared []selection) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /files/{id}", bareFile(e, base, prepared[0]))
	return mux
}

// bareFile serves a file by ID.
func bareFile(e engine, base string, find selection) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		var f fileRow
		switch err := find(r.Context(), func(scan scanner) error { return f.scan(e, scan) }, id); {
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		case f.id == 0:
			http.NotFound(w, r)
		default:
			writeJSON(w, f.response(base))
		}
	}
}

func (f *fileRow) response(base string) *fileResponse {
	id := strconv.FormatInt(f.id, 10)
	sum, _ := hex.DecodeString(f.md5)
	size, unit := f.size, 0
	for size >= 1024 && unit < 4 {
		size /= 1024
		unit++
	}
	return &fileResponse{
		ID: f.id, Name: f.name, Size: f.size,
		URL: base + "/files/" + id, PublicURL: base + "/download:" + id, DownloadURL: base + "/files/" + id + "/download",
		Thumbnail: base + "/renders/default/model.png", DirectURL: base + "/blobs/" + id + "/" + url.PathEscape(f.name),
		Date: f.created.UTC().Format(time.DateTime), FormattedSize: strconv.FormatInt(size, 10) + " " + [...]string{"b", "kb", "mb", "gb", "tb"}[unit],
		MetaData: []int{}, DownloadCount: f.downloads, Hash: base64.StdEncoding.EncodeToString(sum), Rank: f.rank,
	}
}
