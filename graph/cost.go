package graph

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

const (
	// Of what reading the whole schema weighs so much may be asked for: programs ask for it in various ways, but none asks for it twice.
	maxWholes = 1.5
	// What is asked of one type weighs so much more: nobody asks for many by their names.
	perType = 4
)

// maxCost bounds an operation: the fields that its answer may hold, lists at their full length.
const maxCost = 50_000

// Budget is what is left to a caller of the cost that may be run in a span of time.
type Budget struct {
	Remaining int
	Spent     error         // why the operation may not be run now, nil where it may
	Wait      time.Duration // until it may
}

// costing finds out what operations cost.
type costing struct {
	schema graphql.ExecutableSchema
	// How many entries the lists of introspection have, by Type.field: in the mean, for what is asked of all types, and at most, for
	// what is asked of one.
	mean, most map[string]float64
	whole      float64 // what reading the whole schema weighs
}

func newCosting(schema graphql.ExecutableSchema) (*costing, error) {
	c := &costing{schema: schema, mean: make(map[string]float64), most: make(map[string]float64)}
	c.countEntries(schema.Schema())
	document, errs := gqlparser.LoadQueryWithRules(schema.Schema(), introspection.Query, rules.NewDefaultRules())
	if len(errs) > 0 {
		return nil, errs
	}
	c.whole = c.introspection(document.Operations[0].SelectionSet, nil)
	return c, nil
}

// countEntries counts what the lists that tell of a schema hold.
func (c *costing) countEntries(schema *ast.Schema) {
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

// introspection is what is asked of the schema in a selection: of the root, where there are no weights yet, or of what these weigh.
func (c *costing) introspection(set ast.SelectionSet, weights map[string]float64) (weight float64) {
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
				continue // nowhere below is it asked for
			}
			entries, list := weights[s.ObjectDefinition.Name+"."+s.Name]
			switch {
			case s.Name == "__type" && weights == nil:
				entries = perType
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

// of gives the cost of an operation whose document is within the limits.
func (c *costing) of(ctx context.Context, op *graphql.OperationContext) int {
	told := c.introspection(op.Operation.SelectionSet, nil) / (maxWholes * c.whole)
	return min(complexity.Calculate(ctx, c.schema, op.Operation, op.Variables)+int(told*maxCost), 1<<30)
}
