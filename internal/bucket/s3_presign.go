package bucket

import (
	"context"
	"math"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
)

// presignExpiry is how long a presigned URL works: long enough for a slow client to follow a
// redirect, too short to be passed around. A download that has started continues after it.
const presignExpiry = 5 * time.Minute

func (s *s3Store) deliver(ctx context.Context, d Delivery) (err error) {
	switch {
	case d.Stream:
		s.signer, s.signing = nil, nil
	case d.PublicURL != "":
		public, q := *s.url, s.url.Query()
		q.Set("endpoint", d.PublicURL)
		public.RawQuery = q.Encode()
		s.signer, s.signing, err = openClient(ctx, &public)
	}
	return err
}

func (s *s3Store) presign(ctx context.Context, key string, h ResponseHeaders) (string, bool, error) {
	if s.signer == nil {
		return "", false, nil
	}
	url, err := s.signer.SignedURL(ctx, key, &blob.SignedURLOptions{
		Expiry: presignExpiry,
		Method: "GET",
		BeforeSign: func(as func(any) bool) error {
			var in *s3.GetObjectInput
			if as(&in) {
				in.ResponseContentType = optional(h.ContentType)
				in.ResponseContentDisposition = optional(h.ContentDisposition)
				in.ResponseCacheControl = optional(h.CacheControl)
			}
			return nil
		},
	})
	return url, err == nil, err
}

func (s *s3Store) presignParts(ctx context.Context, u Staged, parts []Part, expires time.Duration) (bool, error) {
	if s.signing == nil {
		return false, nil
	}
	// A checksum in the URL would be that of an empty body.
	client := s3.NewPresignClient(s.signing, s3.WithPresignExpires(expires),
		s3.WithPresignClientFromClientOptions(func(o *s3.Options) {
			o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		}))
	key := u.Key()
	for i := range parts {
		number := int32(parts[i].Number)
		request, err := client.PresignUploadPart(ctx, &s3.UploadPartInput{
			Bucket: &s.name, Key: &key, UploadId: &u.Multipart, PartNumber: &number, ContentLength: &parts[i].Size,
		})
		if err != nil {
			return false, err
		}
		parts[i].URL = request.URL
	}
	return true, nil
}

func (s *s3Store) stagedSize(ctx context.Context, u Staged) (int64, error) {
	u.Size = math.MaxInt64
	_, size, err := s.parts(ctx, u)
	if isNoUpload(err) {
		return 0, nil
	}
	return size, err
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
