// Command genqlient is an example of a Go client: typed functions that genqlient generates from
// operations.graphql and the schema. It runs all steps from the creation of a thing to the download
// of its file: create, upload, finalize, watch the preview, publish, list, download.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/Khan/genqlient/graphql"
	"github.com/gorilla/websocket"
)

//go:generate go tool genqlient

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, os.Getenv("MESHYARD_URL"), os.Getenv("MESHYARD_TOKEN")); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, server, token string) error {
	if server == "" || token == "" {
		return errors.New("set MESHYARD_URL, such as http://127.0.0.1:8080, and MESHYARD_TOKEN")
	}
	client := graphql.NewClient(server+"/graphql", &http.Client{Transport: bearer(token)})

	created, err := CreateThing(ctx, client, "Example of genqlient")
	if err != nil {
		return err
	}
	thing := created.CreateThing.Thing.Id

	model := tetrahedron()
	staged, err := StageUpload(ctx, client, "genqlient.stl", thing)
	if err != nil {
		return err
	}
	upload := staged.StageUpload.Upload
	if err := post(ctx, upload, model); err != nil {
		return err
	}
	if _, err := FinalizeFiles(ctx, client, upload.FileId, thing); err != nil {
		return err
	}
	if err := watch(ctx, server, token, upload.FileId); err != nil {
		return err
	}
	if _, err := PublishThing(ctx, client, thing); err != nil {
		return err
	}

	list, err := ListThings(ctx, client)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(list.Things.Nodes,
		func(n ListThingsThingsThingConnectionNodesThing) bool { return n.Id == thing }) {
		return fmt.Errorf("the list of the newest things lacks %s", thing)
	}

	download, err := RecordDownload(ctx, client, upload.FileId)
	if err != nil {
		return err
	}
	answer, err := http.Get(download.RecordDownload.Url) // signed: no token
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	back, err := io.ReadAll(answer.Body)
	if err != nil || !bytes.Equal(back, model) {
		return fmt.Errorf("the download differs from the upload (error %v)", err)
	}
	fmt.Printf("genqlient: thing %s is published, and its file %s came back byte for byte\n", thing, upload.FileId)
	return nil
}

// watch follows the preview of a file over a WebSocket until it is done.
func watch(ctx context.Context, server, token, file string) error {
	socket := graphql.NewClientUsingWebSocket(strings.Replace(server, "http", "ws", 1)+"/graphql", dialer{},
		graphql.WithConnectionParams(map[string]any{"Authorization": "Bearer " + token}))
	failed, err := socket.Start(ctx)
	if err != nil {
		return err
	}
	defer socket.Close()
	events, _, err := FileProcessing(ctx, socket, file)
	if err != nil {
		return err
	}
	for {
		select {
		case err := <-failed:
			return fmt.Errorf("the WebSocket ended: %w", err)
		case event, open := <-events:
			switch {
			case !open:
				return errors.New("the subscription ended before the preview was done")
			case event.Errors != nil:
				return event.Errors
			case event.Data.FileProcessing.State == ProcessingStateFailed:
				return fmt.Errorf("the preview failed: %v", event.Data.FileProcessing.Error)
			case event.Data.FileProcessing.State == ProcessingStateDone:
				return nil
			}
		}
	}
}

// post sends the bytes with the signed form of an upload.
func post(ctx context.Context, upload StageUploadStageUploadStageUploadPayloadUploadStagedUpload,
	content []byte) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, field := range upload.FormFields {
		if err := form.WriteField(field.Name, field.Value); err != nil {
			return err
		}
	}
	file, err := form.CreateFormFile("file", "genqlient.stl")
	if err != nil {
		return err
	}
	_, _ = file.Write(content) // to memory
	if err := form.Close(); err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, upload.FormAction, &body)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", form.FormDataContentType())
	answer, err := http.DefaultTransport.RoundTrip(request) // does not follow the redirect
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 400 {
		return fmt.Errorf("the form was answered with %s", answer.Status)
	}
	return nil
}

// tetrahedron returns an ASCII STL of a random size, so that each run uploads different content.
func tetrahedron() []byte {
	a := 10 + rand.Float64()
	corners := [4][3]float64{{}, {a, 0, 0}, {0, a, 0}, {0, 0, a}}
	var stl bytes.Buffer
	stl.WriteString("solid genqlient\n")
	for _, facet := range [4][3]int{{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}} {
		stl.WriteString("facet normal 0 0 0\nouter loop\n")
		for _, i := range facet {
			fmt.Fprintf(&stl, "vertex %g %g %g\n", corners[i][0], corners[i][1], corners[i][2])
		}
		stl.WriteString("endloop\nendfacet\n")
	}
	stl.WriteString("endsolid genqlient\n")
	return stl.Bytes()
}

// bearer is a transport that adds an access token to requests.
type bearer string

func (token bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}

// dialer opens the WebSocket.
type dialer struct{}

func (dialer) DialContext(ctx context.Context, url string, header http.Header) (graphql.WSConn, error) {
	conn, answer, err := websocket.DefaultDialer.DialContext(ctx, url, header)
	if answer != nil {
		_ = answer.Body.Close()
	}
	return conn, err
}
