package graphqlhttp

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/complexity"
	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/introspection"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// MaxCost is the most that one operation may cost.
const MaxCost = 50_000

const (
	// One operation may read the whole schema, as tools do in several ways, but not twice.
	maxSchemaReads = 1.5
	// A named type counts for this many entries of the schema's list of types.
	namedTypeEntries = 4
)

// FieldCost returns the cost of the field "Type.name", given the total cost of the fields selected
// on one of its objects and its arguments, which have not been validated. A field of a list costs
// as much as its longest possible list. A return value below 1 means the default of 1 + children.
type FieldCost func(field string, children int, arguments map[string]any) int

// Budget is what a caller may still spend within the current time window.
type Budget struct {
	Remaining int
	Exceeded  error         // why the operation may not run now; nil if it may
	Wait      time.Duration // until it may
}

// CostCalculator computes the cost of operations.
type CostCalculator struct {
	schema graphql.ExecutableSchema
	// The number of entries in the lists of introspection, by Type.field: on average, for fields
	// of all types, and at most, for fields of one type.
	mean, most  map[string]float64
	wholeSchema float64 // the weight of reading all of the schema
}

// pricedSchema replaces the complexity functions of the generated code by a FieldCost.
type pricedSchema struct {
	graphql.ExecutableSchema
	cost FieldCost
}

// Complexity implements graphql.ExecutableSchema.
func (s pricedSchema) Complexity(_ context.Context, typeName, field string, children int, arguments map[string]any) (int, bool) {
	cost := s.cost(typeName+"."+field, children, arguments)
	return cost, cost >= 1
}

// NewCostCalculator returns a calculator for operations on the schema.
func NewCostCalculator(schema graphql.ExecutableSchema, cost FieldCost) (*CostCalculator, error) {
	c := &CostCalculator{schema: pricedSchema{schema, cost}, mean: make(map[string]float64), most: make(map[string]float64)}
	c.countEntries(schema.Schema())
	document, errs := gqlparser.LoadQueryWithRules(schema.Schema(), introspection.Query, rules.NewDefaultRules())
	if len(errs) > 0 {
		return nil, errs
	}
	c.wholeSchema = c.introspection(document.Operations[0].SelectionSet, nil)
	return c, nil
}

// countEntries counts the entries of the lists that introspection returns.
func (c *CostCalculator) countEntries(schema *ast.Schema) {
	lists := make(map[string][]int)
	for _, definition := range schema.Types {
		fields := "__Type.fields"
		if definition.Kind == ast.InputObject {
			fields = "__Type.inputFields"
		}
		lists[fields] = append(lists[fields], len(definition.Fields))
		lists["__Type.enumValues"] = append(lists["__Type.enumValues"], len(definition.EnumValues))
		lists["__Type.interfaces"] = append(lists["__Type.interfaces"], len(definition.Interfaces))
		lists["__Type.possibleTypes"] = append(lists["__Type.possibleTypes"], len(schema.PossibleTypes[definition.Name]))
		for _, field := range definition.Fields {
			lists["__Field.args"] = append(lists["__Field.args"], len(field.Arguments))
		}
	}
	for name, lengths := range lists {
		of := len(schema.Types)
		if name == "__Field.args" {
			of = len(lengths)
		}
		for _, n := range lengths {
			c.mean[name] += float64(n) / float64(of)
			c.most[name] = max(c.most[name], float64(n))
		}
	}
	for _, weights := range []map[string]float64{c.mean, c.most} {
		weights["__Schema.types"] = float64(len(schema.Types))
		weights["__Schema.directives"] = float64(len(schema.Directives))
	}
}

// introspection returns the weight of the introspection fields in a selection. weights is nil
// outside of introspection, and otherwise the number of entries in each list.
func (c *CostCalculator) introspection(set ast.SelectionSet, weights map[string]float64) (weight float64) {
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			below := weights
			switch {
			case weights != nil:
			case s.Name == "__schema":
				below = c.mean
			case s.Name == "__type":
				below = c.most
			default:
				continue // only root fields introspect
			}
			entries, list := weights[s.ObjectDefinition.Name+"."+s.Name]
			switch {
			case s.Name == "__type" && weights == nil:
				entries = namedTypeEntries
			case !list:
				entries = 1
			}
			weight += 1 + entries*c.introspection(s.SelectionSet, below)
		case *ast.InlineFragment:
			weight += c.introspection(s.SelectionSet, weights)
		case *ast.FragmentSpread:
			weight += c.introspection(s.Definition.SelectionSet, weights)
		}
	}
	return weight
}

// Of returns the cost of an operation whose document is within the limits.
func (c *CostCalculator) Of(ctx context.Context, op *graphql.OperationContext) int {
	schemaShare := c.introspection(op.Operation.SelectionSet, nil) / (maxSchemaReads * c.wholeSchema)
	return min(complexity.Calculate(ctx, c.schema, op.Operation, op.Variables)+int(schemaShare*MaxCost), 1<<30)
}
