// Package language provides the texts of the pages that the server renders, in each language of the
// gallery, and chooses the language of a visitor.
package language

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"

	"github.com/meshyard/meshyard/internal/apierror"
)

// All lists the texts of all languages. The first one is the default.
var All = []*Texts{english, german}

var english, german = load("en"), load("de")

// cookie is the cookie that the gallery sets when a visitor chooses a language
// (web/src/components/Footer.tsx).
const cookie = "meshyard_language"

// matcher finds the language that fits a visitor best, as an index into All.
var matcher = func() language.Matcher {
	var tags []language.Tag
	for _, t := range All {
		tags = append(tags, language.Make(t.Code))
	}
	return language.NewMatcher(tags)
}()

// Of returns the texts in the language that the visitor chose in the gallery, otherwise in the one
// that fits Accept-Language best, otherwise in English.
func Of(r *http.Request) *Texts {
	if c, err := r.Cookie(cookie); err == nil {
		if t := find(c.Value); t != nil {
			return t
		}
	}
	tags, _, err := language.ParseAcceptLanguage(strings.Join(r.Header.Values("Accept-Language"), ","))
	if err != nil {
		return All[0]
	}
	_, best, _ := matcher.Match(tags...)
	return All[best]
}

func find(code string) *Texts {
	for _, t := range All {
		if t.Code == code {
			return t
		}
	}
	return nil
}

// WithRequest returns a context from which [From] returns the language of a request.
func WithRequest(ctx context.Context, r *http.Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// With returns a context from which [From] returns the language with a code.
func With(ctx context.Context, code string) context.Context {
	return context.WithValue(ctx, requestKey{}, code)
}

type requestKey struct{}

// From returns the language that WithRequest or With has set, or else English.
func From(ctx context.Context) *Texts {
	switch of := ctx.Value(requestKey{}).(type) {
	case *http.Request:
		return Of(of)
	case string:
		if t := find(of); t != nil {
			return t
		}
	}
	return english
}

// Category returns the name of a category in the language, or the given name if the category is not
// one of a new server.
func (t *Texts) Category(slug, name string) string {
	return cmp.Or(t.Categories[slug], name)
}

// SetHeader sets the headers of a response that depends on the language of the visitor.
func (t *Texts) SetHeader(h http.Header) {
	h.Set("Content-Language", t.Code)
	h.Add("Vary", "Accept-Language, Cookie")
}

// Message is a message for a visitor. Detail is the message of the server in English if Text, which
// is in the language of the visitor, says less. Field is the input that the message is about; it
// may be empty.
type Message struct{ Text, Detail, Field string }

// Explain returns the message for an error.
func (t *Texts) Explain(e *apierror.Error) Message {
	if t == english {
		return Message{Text: sentence(e.Message), Field: e.Field}
	}
	if text := t.Inputs[e.Field+" "+string(e.Code)]; text != "" {
		return Message{Text: text, Field: e.Field}
	}
	text := t.Errors[e.Code]
	if text == "" {
		text = t.Errors[apierror.Internal]
	}
	switch e.Code {
	case apierror.Internal, apierror.Unavailable, apierror.Timeout:
		return Message{Text: text}
	}
	return Message{Text: text, Detail: sentence(e.Message), Field: e.Field}
}

// sentence returns the message of an error as a sentence.
func sentence(message string) string {
	first, size := utf8.DecodeRuneInString(message)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(message[size:], ".") + "."
}

// Fill replaces the placeholders %s of a text that contains HTML.
func Fill(text string, values ...any) template.HTML {
	for i, value := range values {
		values[i] = template.HTMLEscapeString(fmt.Sprint(value))
	}
	return template.HTML(fmt.Sprintf(text, values...))
}

// Number formats a number with a separator between thousands.
func (t *Texts) Number(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + t.Thousands + digits[i:]
	}
	return digits
}

// Status returns the title of an error page with an HTTP status.
func (t *Texts) Status(status int) string {
	switch status {
	case http.StatusForbidden:
		return t.Gallery.NoAccess
	case http.StatusNotFound:
		return t.Gallery.NotFound
	case http.StatusTooManyRequests:
		return t.Gallery.TooManyRequests
	case http.StatusServiceUnavailable:
		return t.Gallery.Busy
	}
	return t.Gallery.Failed
}
