package client_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/printer"
	"github.com/meshyard/meshyard/internal/printer/client"
	"github.com/meshyard/meshyard/internal/printer/printertest"
)

// local reaches the stubs.
var local = client.NewNetwork(printertest.Local, "test", client.Timeouts{})

func connect(t *testing.T, n *client.Network, kind printer.Kind, address string) printer.Printer {
	t.Helper()
	p, err := n.Printer(kind, address, printertest.Key)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func eachKind(t *testing.T, test func(t *testing.T, stub *printertest.Stub, p printer.Printer)) {
	for _, kind := range printertest.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			stub := printertest.New(t, kind)
			test(t, stub, connect(t, local, kind, stub.URL+"/"))
		})
	}
}

var gcode = []byte("G28\nG1 X10 Y10\n")

func file(name string) printer.File {
	return printer.File{Name: name, Size: int64(len(gcode)), Content: bytes.NewReader(gcode)}
}

// TestPrint sends a file to a printer of each kind, follows the print and cancels another one.
func TestPrint(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, stub *printertest.Stub, p printer.Printer) {
		ctx := t.Context()
		const name = "benchy-1.gcode"
		status := func(when string, want printer.Status) {
			t.Helper()
			got, err := p.Status(ctx, name)
			got.Remaining = 0
			if got != want || err != nil {
				t.Errorf("%s: got %+v (%v), want %+v", when, got, err, want)
			}
		}
		if version, err := p.Test(ctx); !strings.Contains(strings.ToLower(version), strings.ToLower(string(kindOf(t)))) ||
			err != nil {
			t.Errorf("got the version %q (%v)", version, err)
		}
		if got, err := p.Status(ctx, ""); got.Phase != printer.Idle || err != nil {
			t.Errorf("without a file: got %+v (%v)", got, err)
		}
		status("before", printer.Status{Phase: printer.Idle})
		if has, err := p.Has(ctx, name, int64(len(gcode))); has || err != nil {
			t.Errorf("the printer has the file before: %v (%v)", has, err)
		}
		if err := p.Send(ctx, file(name)); err != nil {
			t.Fatal(err)
		}
		if got := stub.Uploads(); len(got) != 1 || got[0].Name != name || !got[0].Prints ||
			!bytes.Equal(got[0].Content, gcode) {
			t.Fatalf("the printer got %+v", got)
		}
		if has, err := p.Has(ctx, name, int64(len(gcode))); !has || err != nil {
			t.Errorf("the printer does not have the file (%v)", err)
		}
		if has, err := p.Has(ctx, name, int64(len(gcode))+1); has || err != nil {
			t.Errorf("the printer has a larger file (%v)", err)
		}
		stub.Set(printer.Printing, 0.25)
		status("while it prints", printer.Status{Phase: printer.Printing, Progress: 0.25})
		if got, err := p.Status(ctx, "other.gcode"); got.Phase != printer.Busy || err != nil {
			t.Errorf("for another file: got %+v (%v)", got, err)
		}
		stub.Set(printer.Paused, 0.25)
		status("paused", printer.Status{Phase: printer.Paused, Progress: 0.25})
		if err := p.Cancel(ctx, "other.gcode"); err != nil || stub.Canceled() != 0 {
			t.Errorf("canceling another file: %v, and %d prints were canceled", err, stub.Canceled())
		}
		if err := p.Cancel(ctx, name); err != nil || stub.Canceled() != 1 {
			t.Errorf("canceling: %v, and %d prints were canceled", err, stub.Canceled())
		}
		status("canceled", printer.Status{Phase: printer.Cancelled, Progress: 0.25})
		stub.Set(printer.Done, 1)
		status("done", printer.Status{Phase: printer.Done, Progress: 1})
		stub.Set(printer.Offline, 0)
		if got, err := p.Status(ctx, name); got.Phase != printer.Offline || err != nil {
			t.Errorf("offline: got %+v (%v)", got, err)
		}
	})
}

func kindOf(t *testing.T) printer.Kind {
	_, kind, _ := strings.Cut(t.Name(), "/")
	return printer.Kind(kind)
}

// TestPicture fetches a picture of the camera.
func TestPicture(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, stub *printertest.Stub, p printer.Printer) {
		if got, err := p.Picture(t.Context()); err != printer.ErrNoCamera {
			t.Errorf("without a camera: got %d bytes (%v)", len(got), err)
		}
		stub.Show([]byte("picture"))
		if got, err := p.Picture(t.Context()); string(got) != "picture" || err != nil {
			t.Errorf("got %q (%v)", got, err)
		}
		stub.Show(make([]byte, 9<<20))
		if got, err := p.Picture(t.Context()); err == nil {
			t.Errorf("got a picture of %d bytes", len(got))
		}
	})
}

// TestHostile checks that printers that refuse, redirect, lie, send too much or hang cause an error
// that says so, for each method, and that an upload counts as uncertain when it may have arrived.
func TestHostile(t *testing.T) {
	t.Parallel()
	quick := client.NewNetwork(printertest.Local, "test", client.Timeouts{Request: 100 * time.Millisecond,
		Send: 100 * time.Millisecond})
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	elsewhere := printertest.New(t, printer.OctoPrint)
	asked := false
	elsewhere.Before = func(http.ResponseWriter, *http.Request) bool { asked = true; return false }
	for _, c := range []struct {
		name      string
		respond   func(w http.ResponseWriter, r *http.Request)
		want      string // in the error of Status
		sends     string // in the error of Send; empty: none
		uncertain bool
	}{
		{"refuses", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "refuses the key", "refuses the key",
			false},
		{"redirects", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
		},
			"redirects (307)", "redirects", false},
		{"fails", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "responded with 500",
			"responded with 500", true},
		{"lies", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "not what its program documents",
			"", false},
		{"lies in JSON", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"state": 7, "result": [], "printer": "x"}`)
		}, "not what its program documents", "", false},
		{"says nothing", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{}`) },
			"not what its program documents", "", false},
		{"floods", func(w http.ResponseWriter, _ *http.Request) {
			for range 300 {
				_, _ = w.Write(make([]byte, 1<<10))
			}
		}, "larger than 262144 bytes", "", false},
		{"hangs", func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		}, "did not respond within", "did not respond within", true},
		{"breaks off", func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) },
			"connection to the printer failed", "connection to the printer failed", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, kind := range []printer.Kind{printer.OctoPrint, printer.Moonraker} {
				stub := printertest.New(t, kind)
				stub.Before = func(w http.ResponseWriter, r *http.Request) bool {
					_, _ = io.Copy(io.Discard, r.Body)
					c.respond(w, r)
					return true
				}
				network := local
				if c.name == "hangs" {
					network = quick
				}
				p := connect(t, network, kind, stub.URL)
				if got, err := p.Status(t.Context(), "a.gcode"); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: the status is %+v (%v), want an error with %q", kind, got, err, c.want)
				}
				err := p.Send(t.Context(), file("a.gcode"))
				if (err == nil) != (c.sends == "") || err != nil && !strings.Contains(err.Error(), c.sends) ||
					printer.IsUncertain(err) != c.uncertain {
					t.Errorf("%s: sending ended with %v, uncertain: %v", kind, err, printer.IsUncertain(err))
				}
				if err := p.Cancel(t.Context(), "a.gcode"); err == nil {
					t.Errorf("%s: canceling succeeded", kind)
				}
				if _, err := p.Test(t.Context()); err == nil {
					t.Errorf("%s: the test succeeded", kind)
				}
				if has, _ := p.Has(t.Context(), "a.gcode", 3); has {
					t.Errorf("%s: has the file", kind)
				}
			}
		})
	}
	if asked {
		t.Error("a redirect was followed")
	}
}

// TestNetworks checks that only addresses in the allowed networks are connected to, whatever the
// name of the host resolves to.
func TestNetworks(t *testing.T) {
	t.Parallel()
	stub := printertest.New(t, printer.OctoPrint)
	asked := false
	stub.Before = func(http.ResponseWriter, *http.Request) bool { asked = true; return false }
	other := client.NewNetwork([]netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, "test", client.Timeouts{})
	for _, n := range []*client.Network{other, client.NewNetwork(nil, "test", client.Timeouts{})} {
		u, err := url.Parse(stub.URL)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Check(stub.URL); err == nil {
			t.Error("the address passes")
		}
		p := connect(t, n, printer.OctoPrint, "http://localhost:"+u.Port())
		if _, err := p.Test(t.Context()); err == nil ||
			!strings.Contains(err.Error(), "not in a network that the operator allows") {
			t.Errorf("got %v", err)
		}
		if err := p.Send(t.Context(), file("a.gcode")); err == nil || printer.IsUncertain(err) {
			t.Errorf("sending: got %v", err)
		}
	}
	if asked {
		t.Error("the printer was reached")
	}
	for address, valid := range map[string]bool{
		"http://127.0.0.1": true, "https://printer.example:8443/octoprint": true, "http://[::1]:7125": true,
		"http://[::ffff:127.0.0.1]": true,
		"ftp://127.0.0.1":           false, "127.0.0.1": false, "http://": false, "http://user@127.0.0.1": false,
		"http://127.0.0.1/?a=b": false, "http://127.0.0.1/#a": false,
		"http://192.168.1.1": false, "http://169.254.169.254": false, "http://[fd00::1]": false, "http:127.0.0.1": false,
	} {
		if err := local.Check(address); (err == nil) != valid {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestCameraElsewhere checks that no camera on another host is asked for a picture.
func TestCameraElsewhere(t *testing.T) {
	t.Parallel()
	stub, other := printertest.New(t, printer.Moonraker), printertest.New(t, printer.Moonraker)
	other.Show([]byte("secret"))
	asked := false
	other.Before = func(http.ResponseWriter, *http.Request) bool { asked = true; return false }
	for _, camera := range []string{other.URL + "/webcam/?action=snapshot", "//" + strings.TrimPrefix(other.URL,
		"http://") + "/webcam/", "gopher://a", "http://%zz", ""} {
		stub.Before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/server/webcams/list" {
				return false
			}
			fmt.Fprintf(w, `{"result": {"webcams": [{"snapshot_url": %q}]}}`, camera)
			return true
		}
		if got, err := connect(t, local, printer.Moonraker, stub.URL).Picture(t.Context()); string(got) == "secret" || asked {
			t.Errorf("%q: got %q (%v)", camera, got, err)
		}
	}
}

// TestUncertain checks which failures of an upload may have had an effect.
func TestUncertain(t *testing.T) {
	t.Parallel()
	closed := printertest.New(t, printer.OctoPrint)
	closed.Close()
	if err := connect(t, local, printer.OctoPrint, closed.URL).Send(t.Context(), file("a.gcode")); err == nil ||
		printer.IsUncertain(err) || !printer.IsUnreachable(err) {
		t.Errorf("nobody listens: %v", err)
	}
	stub := printertest.New(t, printer.OctoPrint)
	stub.Set(printer.Offline, 0)
	if err := connect(t, local, printer.OctoPrint, stub.URL).Send(t.Context(), file("a.gcode")); err == nil ||
		printer.IsUncertain(err) {
		t.Errorf("the printer is offline: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stub.Before = func(http.ResponseWriter, *http.Request) bool { cancel(); return false }
	if err := connect(t, local, printer.OctoPrint, stub.URL).Send(ctx, file("a.gcode")); err != nil &&
		!printer.IsUncertain(err) {
		t.Errorf("the server stops: %v", err)
	}
}
