package bucket

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/logging"
	gcaws "gocloud.dev/aws"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"
)

// openClient opens an s3:// URL with the options that gocloud.dev/blob/s3blob documents. It does
// not use the opener of that package, whose client writes its own log lines to standard error.
func openClient(ctx context.Context, u *url.URL) (*blob.Bucket, *s3.Client, error) {
	q := u.Query()
	options := &s3blob.Options{KMSEncryptionID: take(q, "kmskeyid")}
	if name := take(q, "ssetype"); name != "" {
		known := types.ServerSideEncryption("").Values()
		at := slices.IndexFunc(known, func(e types.ServerSideEncryption) bool { return strings.EqualFold(string(e), name) })
		if at < 0 {
			return nil, nil, fmt.Errorf("ssetype: must be one of %q (got %q)", known, name)
		}
		options.EncryptionType = known[at]
	}
	switches := map[string]bool{}
	for _, name := range []string{"accelerate", "disable_https", "use_path_style", "s3ForcePathStyle"} {
		if value := take(q, name); value != "" {
			on, err := strconv.ParseBool(value)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: must be true or false (got %q)", name, value)
			}
			switches[name] = on
		}
	}
	config, err := gcaws.V2ConfigFromURLParams(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	if config.Region == "" {
		return nil, nil, errors.New(
			"the region is missing: add it to the URL, such as s3://BUCKET?region=us-east-1, or set the environment variable AWS_REGION")
	}
	config.Logger = logging.LoggerFunc(logS3)
	client := s3.NewFromConfig(config, func(o *s3.Options) {
		o.UseAccelerate = switches["accelerate"]
		o.EndpointOptions.DisableHTTPS = switches["disable_https"]
		o.UsePathStyle = switches["use_path_style"] || switches["s3ForcePathStyle"]
	})
	options.RequestChecksumCalculation = config.RequestChecksumCalculation
	b, err := s3blob.OpenBucket(ctx, client, u.Host, options)
	return b, client, err
}

// take returns the parameter and removes it.
func take(q url.Values, name string) string {
	value := q.Get(name)
	q.Del(name)
	return value
}

// logS3 passes a message of the AWS SDK to the default logger.
func logS3(class logging.Classification, format string, v ...any) {
	level := slog.LevelDebug
	if class == logging.Warn {
		level = slog.LevelWarn
	}
	slog.Log(context.Background(), level, "S3: "+fmt.Sprintf(format, v...))
}
