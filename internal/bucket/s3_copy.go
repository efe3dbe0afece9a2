package bucket

import (
	"context"
	"fmt"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"gocloud.dev/blob"
	"golang.org/x/sync/errgroup"
)

const (
	// maxCopy is the maximum size of a copy in one request.
	maxCopy      = 5 << 30
	copyPartSize = 512 << 20
	copiesAtOnce = 8
)

// copy copies an object of size bytes within S3. The copy appears atomically.
func (s *s3Store) copy(ctx context.Context, from, to string, size int64) error {
	a, err := s.bucket.Attributes(ctx, from)
	if err != nil {
		return notFound(err)
	}
	if a.Size != size {
		return fmt.Errorf("pending object has %d bytes, not %d", a.Size, size)
	}
	if size <= s.copyLimit {
		return notFound(s.bucket.Copy(ctx, to, from, nil))
	}
	return s.copyParts(ctx, from, to, a)
}

func (s *s3Store) copyParts(ctx context.Context, from, to string, a *blob.Attributes) (err error) {
	create := &s3.CreateMultipartUploadInput{Bucket: &s.name, Key: &to, ContentType: &a.ContentType}
	var head s3.HeadObjectOutput
	if a.As(&head) {
		// The same encryption as the source, which a bucket policy may require.
		create.ServerSideEncryption = head.ServerSideEncryption
		create.SSEKMSKeyId = head.SSEKMSKeyId
	}
	multi, err := s.client.CreateMultipartUpload(ctx, create)
	if err != nil {
		return err
	}
	defer func() {
		if err == nil {
			return
		}
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
		defer cancel()
		s.client.AbortMultipartUpload(clean, &s3.AbortMultipartUploadInput{Bucket: &s.name, Key: &to,
			UploadId: multi.UploadId})
	}()

	source := url.QueryEscape(s.name + "/" + from)
	parts := make([]types.CompletedPart, (a.Size+s.copyPart-1)/s.copyPart)
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(copiesAtOnce)
	for i := range parts {
		g.Go(func() error {
			number := int32(i + 1)
			first := int64(i) * s.copyPart
			span := fmt.Sprintf("bytes=%d-%d", first, min(first+s.copyPart, a.Size)-1)
			out, err := s.client.UploadPartCopy(gctx, &s3.UploadPartCopyInput{
				Bucket: &s.name, Key: &to, UploadId: multi.UploadId,
				PartNumber: &number, CopySource: &source, CopySourceRange: &span,
			})
			if err != nil {
				return fmt.Errorf("copy part %d: %w", number, err)
			}
			parts[i] = types.CompletedPart{PartNumber: &number, ETag: out.CopyPartResult.ETag}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	_, err = s.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &s.name, Key: &to, UploadId: multi.UploadId,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
	})
	return err
}

func (s *s3Store) duplicate(ctx context.Context, content, pending string, size int64) error {
	return s.copy(ctx, content, pending, size)
}
