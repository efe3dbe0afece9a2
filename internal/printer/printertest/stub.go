// Package printertest has stubs of printers for tests. They follow the published interfaces of
// OctoPrint, Moonraker and PrusaLink.
package printertest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/meshyard/meshyard/internal/printer"
)

// Key is the API key of all stubs.
const Key = "0123456789ABCDEF"

// Local are the networks in which the stubs are.
var Local = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// Kinds are all kinds of printers.
var Kinds = []printer.Kind{printer.OctoPrint, printer.Moonraker, printer.PrusaLink}

// Upload is a file that a stub has received.
type Upload struct {
	Name    string
	Content []byte
	Prints  bool // whether it was asked to print it
}

// Stub is a printer.
type Stub struct {
	*httptest.Server
	kind printer.Kind

	// Before is called for each request, unless it is nil. If it returns true, it has responded.
	Before func(w http.ResponseWriter, r *http.Request) bool

	// Received is called when a file was stored, before the response, unless it is nil.
	Received func()

	mu       sync.Mutex
	uploads  []Upload
	current  string        // the file that was printed last
	phase    printer.Phase // of the current file; Idle: there is none
	progress float64
	camera   []byte
	canceled int
}

// New starts a stub, which ends with the test.
func New(t testing.TB, kind printer.Kind) *Stub {
	t.Helper()
	s := &Stub{kind: kind, phase: printer.Idle}
	mux := http.NewServeMux()
	switch kind {
	case printer.OctoPrint:
		s.octoprint(mux)
	case printer.Moonraker:
		s.moonraker(mux)
	case printer.PrusaLink:
		s.prusalink(mux)
	}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.Before != nil && s.Before(w, r):
		case r.Header.Get("X-Api-Key") != Key:
			w.WriteHeader(http.StatusForbidden)
		default:
			mux.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	return s
}

// Set sets what the printer does with the file that it received last, and how far it is.
func (s *Stub) Set(phase printer.Phase, progress float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase, s.progress = phase, progress
}

// Show sets the picture of the camera.
func (s *Stub) Show(picture []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.camera = picture
}

// Print makes the printer print a file that was not sent by this test.
func (s *Stub) Print(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current, s.phase, s.progress = name, printer.Printing, 0.5
}

// Uploads returns the files that the printer has received.
func (s *Stub) Uploads() []Upload {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Upload(nil), s.uploads...)
}

// Canceled returns how often a print was canceled.
func (s *Stub) Canceled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.canceled
}

// receive stores a file and prints it if asked.
func (s *Stub) receive(u Upload) {
	if s.Received != nil {
		defer s.Received()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uploads = append(s.uploads, u)
	if u.Prints {
		s.current, s.phase, s.progress = u.Name, printer.Printing, 0
	}
}

// file returns the size of a received file, or -1.
func (s *Stub) file(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.uploads {
		if u.Name == name {
			return len(u.Content)
		}
	}
	return -1
}

func (s *Stub) state() (current string, phase printer.Phase, progress float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current, s.phase, s.progress
}

// cancel cancels a print, and reports whether there was one.
func (s *Stub) cancel() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase != printer.Printing && s.phase != printer.Paused {
		return false
	}
	s.phase = printer.Cancelled
	s.canceled++
	return true
}

func (s *Stub) snapshot(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.camera == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "image/jpeg")
	_, _ = w.Write(s.camera)
}

// form reads a multipart form with one file. It responds and returns false if it is not whole.
func form(w http.ResponseWriter, r *http.Request) (u Upload, fields map[string]string, ok bool) {
	parts, err := r.MultipartReader()
	if err != nil || r.ContentLength < 0 {
		w.WriteHeader(http.StatusBadRequest)
		return u, nil, false
	}
	fields = make(map[string]string)
	for {
		p, err := parts.NextPart()
		if err == io.EOF {
			break
		}
		var content []byte
		if err == nil {
			content, err = io.ReadAll(p)
		}
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return u, nil, false
		}
		if p.FormName() == "file" {
			u.Name, u.Content = p.FileName(), content
		} else {
			fields[p.FormName()] = string(content)
		}
	}
	u.Prints = fields["print"] == "true"
	return u, fields, u.Name != ""
}

func respond(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

type object = map[string]any

// octoprint follows https://docs.octoprint.org/en/master/api/.
func (s *Stub) octoprint(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/version", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, 200, object{"api": "0.1", "server": "1.11.0", "text": "OctoPrint 1.11.0"})
	})
	mux.HandleFunc("GET /api/settings", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, 200, object{"webcam": object{"webcamEnabled": true, "streamUrl": "/webcam/?action=stream",
			"snapshotUrl": "http://127.0.0.1:8080/?action=snapshot"}})
	})
	mux.HandleFunc("GET /webcam/{$}", s.snapshot)
	mux.HandleFunc("POST /api/files/local", func(w http.ResponseWriter, r *http.Request) {
		u, _, ok := form(w, r)
		if !ok {
			return
		}
		_, phase, _ := s.state()
		if phase == printer.Offline {
			u.Prints = false
		}
		s.receive(u)
		respond(w, 201, object{"files": object{"local": object{"name": u.Name, "origin": "local"}}, "done": true,
			"effectiveSelect": true, "effectivePrint": u.Prints})
	})
	mux.HandleFunc("GET /api/files/local/{name}", func(w http.ResponseWriter, r *http.Request) {
		size := s.file(r.PathValue("name"))
		if size < 0 {
			w.WriteHeader(404)
			return
		}
		respond(w, 200, object{"name": r.PathValue("name"), "size": size, "origin": "local"})
	})
	mux.HandleFunc("GET /api/job", func(w http.ResponseWriter, _ *http.Request) {
		current, phase, progress := s.state()
		state := map[printer.Phase]string{printer.Printing: "Printing", printer.Paused: "Paused",
			printer.Offline: "Offline"}[phase]
		if state == "" {
			state = "Operational"
		}
		file, completion := object{"name": nil, "origin": nil, "size": nil, "date": nil}, any(nil)
		if current != "" {
			file = object{"name": current, "origin": "local", "size": 1468987, "date": 1378847754}
			completion = progress * 100
		}
		respond(w, 200, object{"job": object{"file": file, "estimatedPrintTime": 8811},
			"progress": object{"completion": completion, "filepos": 337942, "printTime": 276, "printTimeLeft": 912},
			"state":    state})
	})
	mux.HandleFunc("POST /api/job", func(w http.ResponseWriter, r *http.Request) {
		var v struct{ Command string }
		if json.NewDecoder(r.Body).Decode(&v) != nil || v.Command != "cancel" {
			w.WriteHeader(400)
		} else if s.cancel() {
			w.WriteHeader(204)
		} else {
			w.WriteHeader(409)
		}
	})
}

// moonraker follows https://moonraker.readthedocs.io/en/latest/external_api/introduction/.
func (s *Stub) moonraker(mux *http.ServeMux) {
	mux.HandleFunc("GET /server/info", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, 200, object{"result": object{"klippy_connected": true, "klippy_state": "ready",
			"moonraker_version": "v0.9.3"}})
	})
	mux.HandleFunc("GET /server/webcams/list", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, 200, object{"result": object{"webcams": []object{{"name": "chamber", "enabled": true,
			"snapshot_url": "/webcam/?action=snapshot", "stream_url": "/webcam/?action=stream"}}}})
	})
	mux.HandleFunc("GET /webcam/{$}", s.snapshot)
	mux.HandleFunc("POST /server/files/upload", func(w http.ResponseWriter, r *http.Request) {
		u, fields, ok := form(w, r)
		if !ok {
			return
		}
		if fields["root"] != "gcodes" {
			w.WriteHeader(400)
			return
		}
		s.receive(u)
		respond(w, 201, object{"item": object{"path": u.Name, "root": "gcodes", "size": len(u.Content), "permissions": "rw"},
			"print_started": u.Prints, "print_queued": false, "action": "create_file"})
	})
	mux.HandleFunc("GET /server/files/metadata", func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Query().Get("filename")
		size := s.file(name)
		if size < 0 {
			respond(w, 404, object{"error": object{"code": 404, "message": "Metadata not available for <" + name + ">"}})
			return
		}
		respond(w, 200, object{"result": object{"filename": name, "size": size, "modified": 1676984527.6}})
	})
	mux.HandleFunc("GET /printer/objects/query", func(w http.ResponseWriter, _ *http.Request) {
		current, phase, progress := s.state()
		state := map[printer.Phase]string{
			printer.Printing: "printing", printer.Paused: "paused", printer.Done: "complete", printer.Cancelled: "cancelled",
			printer.Failed: "error",
		}[phase]
		if phase == printer.Offline {
			respond(w, 503, object{"error": object{"code": 503, "message": "Klippy Host not connected"}})
			return
		}
		if state == "" {
			state, current = "standby", ""
		}
		respond(w, 200, object{"result": object{"eventtime": 578243.5, "status": object{
			"print_stats": object{"filename": current, "total_duration": 700.5, "print_duration": 600.0,
				"filament_used": 12.5, "state": state, "message": ""},
			"virtual_sdcard": object{"progress": progress, "is_active": state == "printing", "file_position": 1000},
		}}})
	})
	mux.HandleFunc("POST /printer/print/cancel", func(w http.ResponseWriter, _ *http.Request) {
		s.cancel()
		respond(w, 200, object{"result": "ok"})
	})
}

// prusalink follows https://github.com/prusa3d/Prusa-Link-Web/blob/master/spec/openapi.yaml.
func (s *Stub) prusalink(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/version", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, 200, object{"api": "2.0.0", "server": "2.1.2", "nozzle_diameter": 0.4, "text": "PrusaLink", "hostname": "",
			"capabilities": object{"upload-by-put": true}})
	})
	mux.HandleFunc("GET /api/v1/storage", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, 200, object{"storage_list": []object{{"path": "/local/", "name": "local", "type": "LOCAL",
			"read_only": true, "available": true},
			{"path": "/usb/", "name": "usb", "type": "USB", "read_only": false, "available": true}}})
	})
	mux.HandleFunc("PUT /api/v1/files/usb/{name}", func(w http.ResponseWriter, r *http.Request) {
		content, err := io.ReadAll(r.Body)
		if err != nil || r.ContentLength != int64(len(content)) {
			w.WriteHeader(400)
			return
		}
		if s.file(r.PathValue("name")) >= 0 && r.Header.Get("Overwrite") != "?1" {
			w.WriteHeader(409)
			return
		}
		s.receive(Upload{Name: r.PathValue("name"), Content: content, Prints: r.Header.Get("Print-After-Upload") == "?1"})
		w.WriteHeader(201)
	})
	mux.HandleFunc("GET /api/v1/files/usb/{name}", func(w http.ResponseWriter, r *http.Request) {
		size := s.file(r.PathValue("name"))
		if size < 0 {
			w.WriteHeader(404)
			return
		}
		respond(w, 200, object{"name": short(r.PathValue("name")), "display_name": r.PathValue("name"), "size": size,
			"type": "PRINT_FILE", "read_only": false})
	})
	states := map[printer.Phase]string{
		printer.Idle: "IDLE", printer.Printing: "PRINTING", printer.Paused: "PAUSED", printer.Done: "FINISHED",
		printer.Cancelled: "STOPPED",
		printer.Failed:    "ERROR", printer.Offline: "ERROR",
	}
	mux.HandleFunc("GET /api/v1/status", func(w http.ResponseWriter, _ *http.Request) {
		_, phase, _ := s.state()
		respond(w, 200, object{"storage": object{"path": "/usb/", "name": "usb"}, "printer": object{"state": states[phase],
			"temp_bed": 23.8, "temp_nozzle": 24.0}})
	})
	mux.HandleFunc("GET /api/v1/job", func(w http.ResponseWriter, _ *http.Request) {
		current, phase, progress := s.state()
		if current == "" || phase == printer.Idle || phase == printer.Offline {
			w.WriteHeader(204)
			return
		}
		respond(w, 200, object{"id": 297, "state": states[phase], "progress": progress * 100, "time_remaining": 520,
			"time_printing": 600,
			"file":          object{"name": short(current), "display_name": current, "path": "/usb", "size": 16}})
	})
	mux.HandleFunc("DELETE /api/v1/job/297", func(w http.ResponseWriter, _ *http.Request) {
		if s.cancel() {
			w.WriteHeader(204)
			return
		}
		w.WriteHeader(404)
	})
	mux.HandleFunc("GET /api/v1/cameras/snap", s.snapshot)
}

// short returns the 8.3 name of a file, as on a FAT drive.
func short(name string) string { return strings.ToUpper(name[:min(6, len(name))]) + "~1.GCO" }
