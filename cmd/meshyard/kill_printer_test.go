package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/printer"
	"github.com/meshyard/meshyard/internal/printer/printertest"
)

// TestKillWhileSendingToPrinter kills the server by SIGKILL while it sends files to two printers.
// One printer has its file, but has not responded; the other one has lost it. After the restart,
// the first print goes on, the second one is unknown, and it is sent again only when its user says
// so. It takes half a minute, because so long a server may be silent before it counts as dead.
func TestKillWhileSendingToPrinter(t *testing.T) {
	t.Parallel()
	binary := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := newCatalogue(t, binary, databaseOn(t, engine))
			c.settings = append(c.settings, "--printer-networks", "127.0.0.0/8")
			c.run("user", "create", "ada")
			ada := &user{name: "ada", token: strings.TrimSpace(c.run("token", "create", "ada"))}
			s := c.serve()
			kept, lost := printertest.New(t, printer.OctoPrint), printertest.New(t, printer.OctoPrint)
			var both sync.WaitGroup
			both.Add(2)
			killed := make(chan struct{})
			var begun sync.Map // the number of uploads that began, by printer
			count := func(of *printertest.Stub) bool {
				n, _ := begun.LoadOrStore(of, 0)
				begun.Store(of, n.(int)+1)
				return n == 0
			}
			kept.Before = func(_ http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodPost {
					count(kept)
				}
				return false
			}
			kept.Received = func() { both.Done(); <-killed }
			lost.Before = func(_ http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodPost || !count(lost) {
					return false
				}
				both.Done()
				<-killed
				return true
			}
			p := &printing{t, ada, newClient(s.url)}
			file := p.upload()
			ofKept, ofLost := p.send(kept, file), p.send(lost, file)
			both.Wait()
			s.kill()
			close(killed)
			p.http.CloseIdleConnections()

			s = c.serve()
			defer func() { s.kill() }()
			p.client = newClient(s.url)
			p.wait(ofKept, "PRINTING")
			p.wait(ofLost, "UNKNOWN")
			if n := len(lost.Uploads()); n != 0 {
				t.Errorf("without an answer, %d files were sent again", n)
			}
			p.ask(`mutation { startPrint(input: {id: `+ofLost+`}) { job { id } } }`, new(any))
			p.wait(ofLost, "PRINTING")
			for of, want := range map[*printertest.Stub]int{kept: 1, lost: 2} {
				if n, _ := begun.Load(of); n != want || len(of.Uploads()) != 1 {
					t.Errorf("%v uploads began and %d arrived, want %d and 1", n, len(of.Uploads()), want)
				}
			}
		})
	}
}

// printing is a user who prints.
type printing struct {
	t   *testing.T
	ada *user
	*client
}

// ask runs a GraphQL operation.
func (p *printing) ask(query string, into any) {
	p.t.Helper()
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		p.t.Fatal(err)
	}
	a, err := p.client.send(p.ada, http.MethodPost, "/graphql", "application/json", strings.NewReader(string(body)))
	if err != nil || a.status != http.StatusOK || strings.Contains(string(a.body), `"errors"`) {
		p.t.Fatalf("%s: got %+v (%v)", query, a, err)
	}
	if err := json.Unmarshal(a.body, &struct{ Data any }{into}); err != nil {
		p.t.Fatal(err)
	}
}

// upload returns the ID of a G-code file.
func (p *printing) upload() string {
	p.t.Helper()
	thing, err := p.thing(p.ada, "Printed")
	if err != nil {
		p.t.Fatal(err)
	}
	var file struct{ ID int64 }
	body, contentType := multipartBody(nil, "part.gcode", strings.NewReader("G28\n"))
	a, err := p.client.send(p.ada, http.MethodPost, "/files/0/uploadFile", contentType, body)
	if err == nil {
		err = json.Unmarshal(a.body, &file)
	}
	if err != nil || file.ID == 0 {
		p.t.Fatalf("upload: got %+v (%v)", a, err)
	}
	p.ask(fmt.Sprintf(`mutation { finalizeFiles(input: {files: [{id: %d}], target: {type: THING, id: %d}}) { files { id } } }`, file.ID, thing), new(any))
	return fmt.Sprint(file.ID)
}

// send sends a file to a new printer and returns the ID of the print.
func (p *printing) send(to *printertest.Stub, file string) string {
	p.t.Helper()
	var made struct {
		CreatePrinter struct{ Printer struct{ ID string } }
	}
	p.ask(fmt.Sprintf(`mutation { createPrinter(input: {name: "Printer", kind: OCTOPRINT, url: %q, key: %q}) { printer { id } } }`, to.URL, printertest.Key), &made)
	var sent struct {
		SendToPrinter struct{ Job struct{ ID string } }
	}
	p.ask(fmt.Sprintf(`mutation { sendToPrinter(input: {printerId: %s, fileId: %s}) { job { id } } }`,
		made.CreatePrinter.Printer.ID, file), &sent)
	return sent.SendToPrinter.Job.ID
}

// wait waits until a print is in a state.
func (p *printing) wait(job, state string) {
	p.t.Helper()
	var all struct {
		Printers struct {
			Nodes []struct {
				Jobs struct {
					Nodes []struct{ ID, State, Message string }
				}
			}
		}
	}
	for late := time.Now().Add(3 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		p.ask(`{ printers { nodes { jobs { nodes { id state message } } } } }`, &all)
		for _, printer := range all.Printers.Nodes {
			for _, j := range printer.Jobs.Nodes {
				if j.ID == job && j.State == state {
					return
				}
			}
		}
		if time.Now().After(late) {
			p.t.Fatalf("print %s is not %s: %+v", job, state, all)
		}
	}
}
