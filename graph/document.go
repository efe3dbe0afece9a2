package graph

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/meshyard/meshyard/models"
)

const (
	maxKnown     = 64 << 20 // bytes of documents that are kept parsed and valid
	maxPersisted = 8 << 20  // bytes of texts that clients ask for by hash
	perToken     = 350      // bytes that a token of a parsed document takes, measured
)

// Document is one that an operator trusts, with a name by which it is spoken of.
type Document struct{ Name, Text string }

// ID is the hash by which a document can be asked for, in hexadecimal.
func (d Document) ID() string { return id(d.Text) }

func id(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// documents finds the document that a request means and makes sure of it: within the limits, and valid.
type documents struct {
	schema     *ast.Schema
	only       bool // whether none but the registered are run
	registered map[string]*ast.QueryDocument
	texts      map[string]string // of the registered, by ID
	known      *cache[*ast.QueryDocument]
	persisted  *cache[string] // texts by ID: automatic persisted queries
}

// newDocuments registers documents. It fails where one is not valid.
func newDocuments(schema *ast.Schema, only bool, register []Document) (*documents, error) {
	d := &documents{
		schema: schema, only: only, registered: make(map[string]*ast.QueryDocument), texts: make(map[string]string),
		known: newCache[*ast.QueryDocument](maxKnown), persisted: newCache[string](maxPersisted),
	}
	for _, document := range register {
		parsed, errs := d.examine(document.Text, new(effort))
		if len(errs) > 0 {
			return nil, fmt.Errorf("the document %s: %w", document.Name, errs)
		}
		// Editors end a file with a line break, and programs send what is in it without.
		for _, text := range []string{document.Text, strings.TrimSpace(document.Text)} {
			d.registered[text], d.texts[id(text)] = parsed, text
		}
	}
	return d, nil
}

// find gives the document that is asked for by its text, by its ID, or by both, and fills in the text.
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
			// The words by which clients know that they are to send the text.
			return nil, gqlerror.List{gqlerror.Wrap(&models.Error{Code: models.NotFound, Message: "PersistedQueryNotFound"})}
		}
		params.Query = text
	}
	if document := d.registered[params.Query]; document != nil {
		return document, nil
	}
	if d.only {
		return nil, gqlerror.List{gqlerror.Wrap(&models.Error{Code: models.Forbidden, Message: "this server runs registered documents only, and this is none of them"})}
	}
	document, ok := d.known.get(params.Query)
	if !ok {
		var errs gqlerror.List
		looked := new(effort)
		if document, errs = d.examine(params.Query, looked); len(errs) > 0 {
			return nil, errs
		}
		d.known.add(params.Query, document, len(params.Query)+perToken*looked.tokens)
	}
	if hash != "" {
		d.persisted.add(hash, params.Query, len(params.Query)+len(hash))
	}
	return document, nil
}

// persistedHash reads the hash of an automatic persisted query, in the way of Apollo's protocol, "" where there is none.
func persistedHash(params *graphql.RawParams) (string, error) {
	asked, ok := params.Extensions["persistedQuery"]
	if !ok {
		return "", nil
	}
	extension, _ := asked.(map[string]any)
	hash, ok := extension["sha256Hash"].(string)
	if version := fmt.Sprint(extension["version"]); version != "1" || !ok || len(hash) != hex.EncodedLen(sha256.Size) {
		return "", BadInput("extensions.persistedQuery", "extensions.persistedQuery: want version 1 and sha256Hash, 64 hexadecimal digits")
	}
	hash = strings.ToLower(hash)
	if params.Query != "" && id(params.Query) != hash {
		return "", BadInput("extensions.persistedQuery", "extensions.persistedQuery: sha256Hash is not that of the query")
	}
	return hash, nil
}

// withoutSuggestions are the rules of validation. A misspelt name is answered with no names of the schema: the suggestions would tell them to
// those from whom introspection is kept, and looking for them takes long.
var withoutSuggestions = func() *rules.Rules {
	r := rules.NewDefaultRules()
	for _, rule := range []validator.Rule{
		rules.FieldsOnCorrectTypeRuleWithoutSuggestions, rules.KnownArgumentNamesRuleWithoutSuggestions, rules.KnownTypeNamesRuleWithoutSuggestions,
		rules.ScalarLeafsRuleWithoutSuggestions, rules.ValuesOfCorrectTypeRuleWithoutSuggestions,
	} {
		r.RemoveRule(strings.TrimSuffix(rule.Name, "WithoutSuggestions"))
		r.AddRule(rule.Name, rule.RuleFunc)
	}
	return r
}()

// examine parses a document and validates it, unless it passes a limit before.
func (d *documents) examine(text string, looked *effort) (*ast.QueryDocument, gqlerror.List) {
	if err := looked.scan(text); err != nil {
		return nil, gqlerror.List{gqlerror.Wrap(err)}
	}
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, maxTokens+1)
	if err != nil {
		return nil, invalid(gqlerror.List{gqlerror.WrapIfUnwrapped(err)})
	}
	if len(document.Operations) == 0 {
		return nil, gqlerror.List{gqlerror.Wrap(BadInput("query", "query: holds no operation"))}
	}
	if err := looked.measure(document); err != nil {
		return nil, gqlerror.List{gqlerror.Wrap(err)}
	}
	if errs := validator.ValidateWithRules(d.schema, document, withoutSuggestions); len(errs) > 0 {
		return nil, invalid(errs)
	}
	return document, nil
}

// invalid marks errors as those of the document; see PresentError.
func invalid(errs gqlerror.List) gqlerror.List {
	for _, e := range errs {
		errcode.Set(e, errcode.ValidationFailed)
	}
	return errs
}

// found hands the executor the document that was found for a request.
type found struct{}

func (found) Get(ctx context.Context, _ string) (*ast.QueryDocument, bool) {
	document, ok := ctx.Value(found{}).(*ast.QueryDocument)
	return document, ok
}

func (found) Add(context.Context, string, *ast.QueryDocument) {}
