package graphqlhttp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/meshyard/meshyard/internal/apierror"
)

const (
	maxParsedBytes    = 64 << 20 // of cached parsed documents
	maxPersistedBytes = 8 << 20  // of automatic persisted queries
	bytesPerToken     = 350      // of a parsed document, measured
	maxSuggestions    = 5        // errors of one document for which suggestions are computed
)

// Document is a registered GraphQL document. Name appears in error messages.
type Document struct{ Name, Text string }

// ID returns the SHA-256 hash of the text in hexadecimal, by which clients may request the
// document.
func (d Document) ID() string { return documentID(d.Text) }

func documentID(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// documents finds the document of a request and checks it against the limits and the schema.
type documents struct {
	schema     *ast.Schema
	only       bool                       // accept registered documents only
	registered map[string]bool            // by text
	texts      map[string]string          // of registered documents, by ID
	parsed     *cache[*ast.QueryDocument] // valid documents by text
	persisted  *cache[string]             // texts by ID: automatic persisted queries
}

// newDocuments registers documents. It fails if one is invalid. They are parsed again when they are
// requested, because clients of most servers use only a few of the registered ones.
func newDocuments(schema *ast.Schema, only bool, register []Document) (*documents, error) {
	d := &documents{
		schema: schema, only: only, registered: make(map[string]bool), texts: make(map[string]string),
		parsed: newCache[*ast.QueryDocument](maxParsedBytes), persisted: newCache[string](maxPersistedBytes),
	}
	for _, document := range register {
		if err := d.validate(document); err != nil {
			return nil, err
		}
		// Editors end a file with a line break, which clients may omit.
		for _, text := range []string{document.Text, strings.TrimSpace(document.Text)} {
			d.registered[text], d.texts[documentID(text)] = true, text
		}
	}
	return d, nil
}

// valid are the registered documents that were found to be valid, as validDocument. Servers in one
// process register the same documents: validating them for each takes most of the time in which it
// starts.
var valid sync.Map

type validDocument struct {
	schema *ast.Schema
	id     string
}

// validate returns an error if a document is outside of the limits or does not match the schema.
func (d *documents) validate(document Document) error {
	key := validDocument{d.schema, document.ID()}
	if _, ok := valid.Load(key); ok {
		return nil
	}
	if _, errs := d.parse(document.Text, new(documentStats)); len(errs) > 0 {
		return fmt.Errorf("document %s: %w", document.Name, errs)
	}
	valid.Store(key, true)
	return nil
}

// find returns the document that is requested by its text, its ID or both, and sets params.Query.
func (d *documents) find(params *graphql.RawParams) (*ast.QueryDocument, gqlerror.List) {
	hash, err := persistedHash(params)
	if err != nil {
		return nil, gqlerror.List{gqlerror.Wrap(err)}
	}
	if params.Query == "" {
		text, ok := d.texts[hash]
		if !ok && !d.only {
			text, ok = d.persisted.get(hash)
		}
		if !ok {
			// Clients match this message and then send the text.
			return nil, gqlerror.List{gqlerror.Wrap(&apierror.Error{Code: apierror.PersistedQueryNotFound,
				Message: "PersistedQueryNotFound"})}
		}
		params.Query = text
	}
	if text := strings.TrimSpace(params.Query); d.only && d.registered[text] {
		params.Query = text // clients may send it with other white space around it
	} else if d.only {
		return nil, gqlerror.List{gqlerror.Wrap(&apierror.Error{Code: apierror.Forbidden,
			Message: "this server executes registered documents only, and this document is not registered"})}
	}
	document, ok := d.parsed.get(params.Query)
	if !ok {
		var errs gqlerror.List
		stats := new(documentStats)
		if document, errs = d.parse(params.Query, stats); len(errs) > 0 {
			return nil, errs
		}
		d.parsed.add(params.Query, document, len(params.Query)+bytesPerToken*stats.tokens)
	}
	if hash != "" && !d.registered[params.Query] {
		d.persisted.add(hash, params.Query, len(params.Query)+len(hash))
	}
	return document, nil
}

// persistedHash returns the hash of an automatic persisted query (Apollo's protocol), or "".
func persistedHash(params *graphql.RawParams) (string, error) {
	value, ok := params.Extensions["persistedQuery"]
	if !ok {
		return "", nil
	}
	extension, _ := value.(map[string]any)
	hash, ok := extension["sha256Hash"].(string)
	if version := fmt.Sprint(extension["version"]); version != "1" || !ok || len(hash) != hex.EncodedLen(sha256.Size) {
		return "", apierror.Invalid("extensions.persistedQuery",
			"extensions.persistedQuery: must have version 1 and sha256Hash with 64 hexadecimal digits")
	}
	hash = strings.ToLower(hash)
	if params.Query != "" && documentID(params.Query) != hash {
		return "", apierror.Invalid("extensions.persistedQuery",
			"extensions.persistedQuery: sha256Hash does not match the query")
	}
	return hash, nil
}

// withoutSuggestions are the validation rules without "Did you mean" suggestions, which would
// reveal names of the schema where introspection is disabled and are slow to compute.
var withoutSuggestions = func() *rules.Rules {
	r := rules.NewDefaultRules()
	for _, rule := range []validator.Rule{
		rules.FieldsOnCorrectTypeRuleWithoutSuggestions, rules.KnownArgumentNamesRuleWithoutSuggestions,
		rules.KnownTypeNamesRuleWithoutSuggestions,
		rules.ScalarLeafsRuleWithoutSuggestions, rules.ValuesOfCorrectTypeRuleWithoutSuggestions,
	} {
		r.RemoveRule(strings.TrimSuffix(rule.Name, "WithoutSuggestions"))
		r.AddRule(rule.Name, rule.RuleFunc)
	}
	return r
}()

// parse parses and validates a document that is within the limits.
func (d *documents) parse(text string, stats *documentStats) (*ast.QueryDocument, gqlerror.List) {
	text, escapeError := decodeEscapes(text)
	if escapeError != nil {
		errcode.Set(escapeError, errcode.ParseFailed)
		return nil, gqlerror.List{escapeError}
	}
	if err := stats.scan(text); err != nil {
		return nil, gqlerror.List{gqlerror.Wrap(err)}
	}
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, maxTokens+1)
	if err != nil {
		parseError := gqlerror.WrapIfUnwrapped(err)
		errcode.Set(parseError, errcode.ParseFailed)
		return nil, gqlerror.List{parseError}
	}
	if len(document.Operations) == 0 {
		return nil, gqlerror.List{gqlerror.Wrap(apierror.Invalid("query", "query: contains no operation"))}
	}
	if err := stats.check(document); err != nil {
		return nil, gqlerror.List{gqlerror.Wrap(err)}
	}
	errs := validator.ValidateWithRules(d.schema, document, withoutSuggestions)
	// Suggestions are slow to compute, so a document with many errors gets none.
	if len(errs) > 0 && len(errs) <= maxSuggestions && !d.only {
		errs = validator.ValidateWithRules(d.schema, document, rules.NewDefaultRules())
	}
	for _, e := range errs {
		errcode.Set(e, errcode.ValidationFailed) // see PresentError
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return document, nil
}

// contextDocument is a query cache that returns the document in the request's context.
type contextDocument struct{}

// Get returns the document of the request.
func (contextDocument) Get(ctx context.Context, _ string) (*ast.QueryDocument, bool) {
	document, ok := ctx.Value(contextDocument{}).(*ast.QueryDocument)
	return document, ok
}

// Add does nothing.
func (contextDocument) Add(context.Context, string, *ast.QueryDocument) {}

// SingleDocument is a query cache that returns one document for the empty text. It lets an executor
// run stored operations by name.
type SingleDocument struct{ Document *ast.QueryDocument }

// Get returns the document.
func (d SingleDocument) Get(_ context.Context, query string) (*ast.QueryDocument, bool) {
	return d.Document, query == ""
}

// Add does nothing.
func (SingleDocument) Add(context.Context, string, *ast.QueryDocument) {}
