package structjson_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/structjson"
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/rest/wire"
)

// BenchmarkPage encodes and decodes a page of things with encoding/json and with structjson.
func BenchmarkPage(b *testing.B) {
	thing := `{"id":"123","name":"Cube gears, with a long name","created_at":"2015-04-09T12:55:22.123456Z",` +
		`"creator":{"id":"12","name":"maker-12","first_name":"Ann","last_name":"Bee","count_of_followers":3,"count_of_following":4,` +
		`"count_of_designs":12,"make_count":3,"is_following":false,"location":"Berlin","avatar":"","cover_picture":"","role":"USER"},` +
		`"is_published":"PUBLISHED","like_count":3,"collect_count":3,"make_count":2,"comment_count":3,"is_nsfw":null,` +
		`"tags":[{"name":"gears","tag":"gears","count":12},{"name":"cube","tag":"cube","count":12},{"name":"puzzle","tag":"puzzle","count":12}],` +
		`"image":{"original":"http://127.0.0.1:8080/assets/abcdefg/image.png","rendering":{"url":"http://127.0.0.1:8080/renders/abcdefg/large_display.png"}}}`
	page := []byte("[" + strings.Repeat(thing+",", 29) + thing + "]")
	for name, codec := range map[string]struct {
		decode func([]byte, any) error
		append func([]byte, any) ([]byte, error)
	}{
		"encoding-json": {json.Unmarshal, func(_ []byte, v any) ([]byte, error) { return json.Marshal(v) }},
		"structjson":    {structjson.Decode, structjson.Append},
	} {
		b.Run("decode/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var things []*wire.ShortThingSchema
				if err := codec.decode(page, &things); err != nil {
					b.Fatal(err)
				}
			}
		})
		var things []*wire.ShortThingSchema
		if err := codec.decode(page, &things); err != nil {
			b.Fatal(err)
		}
		for _, thing := range things {
			thing.Complete(urls.Builder{})
		}
		b.Run("encode/"+name, func(b *testing.B) {
			b.ReportAllocs()
			var into []byte
			for b.Loop() {
				body, err := codec.append(into[:0], things)
				if err != nil {
					b.Fatal(err)
				}
				into = body
			}
		})
	}
}
