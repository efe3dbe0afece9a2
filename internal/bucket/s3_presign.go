package bucket

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
)

// presignExpiry is how long a presigned URL works: long enough for a slow client to follow a
// redirect, too short to be passed around. A download that has started continues after it.
const presignExpiry = 5 * time.Minute

func (s *s3Store) deliver(ctx context.Context, d Delivery) (err error) {
	switch {
	case d.Stream:
		s.signer = nil
	case d.PublicURL != "":
		public, q := *s.url, s.url.Query()
		q.Set("endpoint", d.PublicURL)
		public.RawQuery = q.Encode()
		s.signer, _, err = openClient(ctx, &public)
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

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
