package tus

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/tus/tusd/v2/pkg/handler"

	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/uploads"
	"github.com/meshyard/meshyard/rest"
)

// store is the data store of tusd.
type store struct{ *uploads.Store }

// upload is an upload of the caller of a request.
type upload struct {
	store
	row *uploads.Resumable
}

func (s store) NewUpload(ctx context.Context, info handler.FileInfo) (handler.Upload, error) {
	n := uploads.NewResumable{
		Name: info.MetaData["filename"], Kind: models.FileKind(info.MetaData["kind"]), SHA256: info.MetaData["sha256"],
		Metadata: info.MetaData, Partial: info.IsPartial,
	}
	if n.Name == "" && info.IsPartial {
		n.Name = "part" // it never becomes a file
	}
	if !info.SizeIsDeferred {
		n.Length = &info.Size
	}
	for _, id := range info.PartialUploads {
		number, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return nil, handler.ErrNotFound
		}
		n.Parts = append(n.Parts, number)
	}
	row, err := s.CreateResumable(ctx, callerOf(ctx), n)
	if err != nil {
		return nil, refusal(ctx, err)
	}
	return &upload{s, row}, nil
}

// GetUpload also finishes an upload whose last request was killed after its last byte.
func (s store) GetUpload(ctx context.Context, id string) (handler.Upload, error) {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil, handler.ErrNotFound
	}
	row, err := s.Resumable(ctx, callerOf(ctx), number)
	if err != nil {
		return nil, refusal(ctx, err)
	}
	u := &upload{s, row}
	if row.Complete() && !row.Done {
		return u, u.FinishUpload(ctx)
	}
	return u, nil
}

func (s store) AsTerminatableUpload(u handler.Upload) handler.TerminatableUpload { return u.(*upload) }

func (s store) AsLengthDeclarableUpload(u handler.Upload) handler.LengthDeclarableUpload {
	return u.(*upload)
}

func (s store) AsConcatableUpload(u handler.Upload) handler.ConcatableUpload { return u.(*upload) }

func (u *upload) GetInfo(context.Context) (handler.FileInfo, error) {
	info := handler.FileInfo{
		ID: strconv.FormatInt(u.row.FileID, 10), Offset: u.row.Received, SizeIsDeferred: u.row.Length == nil,
		MetaData: u.row.MetadataMap(), IsPartial: u.row.Partial,
	}
	if u.row.Length != nil {
		info.Size = *u.row.Length
	}
	for _, id := range u.row.PartIDs() {
		info.PartialUploads = append(info.PartialUploads, strconv.FormatInt(id, 10))
	}
	info.IsFinal = len(info.PartialUploads) > 0
	return info, nil
}

func (u *upload) WriteChunk(ctx context.Context, offset int64, src io.Reader) (int64, error) {
	var verify func() error
	if c, ok := ctx.Value(checksumKey{}).(*checksum); ok {
		src, verify = c.over(src), c.verify
	}
	n, err := u.AppendResumable(ctx, callerOf(ctx), u.row.FileID, offset, src, verify)
	return n, refusal(ctx, err)
}

func (u *upload) FinishUpload(ctx context.Context) error {
	return refusal(ctx, u.FinishResumable(ctx, callerOf(ctx), u.row.FileID))
}

func (u *upload) Terminate(ctx context.Context) error {
	return refusal(ctx, u.DeletePendingUpload(ctx, callerOf(ctx), u.row.FileID))
}

func (u *upload) DeclareLength(ctx context.Context, length int64) error {
	if err := u.store.DeclareLength(ctx, callerOf(ctx), u.row.FileID, length); err != nil {
		return refusal(ctx, err)
	}
	u.row.Length = &length
	return nil
}

// ConcatUploads joins the parts, which the row of the upload has.
func (u *upload) ConcatUploads(ctx context.Context, _ []handler.Upload) error {
	return refusal(ctx, u.JoinResumables(ctx, callerOf(ctx), u.row.FileID))
}

// GetReader is not used: downloads are disabled.
func (u *upload) GetReader(context.Context) (io.ReadCloser, error) {
	return nil, handler.ErrNotImplemented
}

// refusal returns err as an error of tusd with the response of the REST API.
func refusal(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[handler.Error](err); ok {
		return known
	}
	w := recorder{header: http.Header{}}
	rest.WriteFailure(&w, new(http.Request).WithContext(ctx), err)
	response := handler.HTTPResponse{StatusCode: w.status, Body: w.body.String(), Header: handler.HTTPHeader{}}
	for name := range w.header {
		response.Header[name] = w.header.Get(name)
	}
	return handler.Error{ErrorCode: http.StatusText(w.status), Message: err.Error(), HTTPResponse: response}
}

// recorder records a response.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }
