package graphqlhttp

import (
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/introspection"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/meshyard/meshyard/internal/graphql/peroperation"
)

// MaxCost is the maximum cost of one operation.
const MaxCost = 50_000

const (
	// maxSchemaReads is how often one operation may read the whole schema. It is more than one,
	// because the introspection queries of tools differ, and less than two, so that no operation can
	// read the schema twice.
	maxSchemaReads = 1.5
	// namedTypeEntries is the weight of a type that is selected by name, with __type: it counts as
	// this many entries of the list of all types.
	namedTypeEntries = 4
)

// FieldCost returns the cost of the field "Type.name", given its arguments, which have not been
// validated.
type FieldCost func(field string, arguments map[string]any) Cost

// Cost defines the cost of a field: Own + Entries × the cost of the selection on one of its
// objects. Entries is the maximum length of the list that the field returns, or 1 if it is not a
// list.
type Cost struct {
	Own, Entries int
	// Once is set for a field of a page that is not repeated for each of its entries, such as its
	// total count.
	Once bool
}

// Budget is the cost that a caller may still spend within the current time window.
type Budget struct {
	Remaining int
	Exceeded  error // the error if the operation exceeds the budget, with the time to wait, or nil
}

// CostCalculator computes the cost of operations.
type CostCalculator struct {
	schema *ast.Schema
	cost   FieldCost
	// The number of entries in the lists of introspection, by Type.field. mean contains averages, for
	// operations that read all types; most contains maximums, for those that read one type.
	mean, most  map[string]float64
	wholeSchema float64 // the weight of the standard introspection query

	constant peroperation.Cache[constantCosts]
}

// constantCosts contains the costs in an operation that do not depend on its variables.
type constantCosts struct {
	schemaShare float64
	fields      map[*ast.Field]fieldTotal
}

// fieldTotal is the cost of a field including its selection.
type fieldTotal struct {
	cost int
	once bool
}

// NewCostCalculator returns a calculator for operations on the schema.
func NewCostCalculator(schema *ast.Schema, cost FieldCost) (*CostCalculator, error) {
	c := &CostCalculator{schema: schema, cost: cost, mean: make(map[string]float64), most: make(map[string]float64)}
	c.countEntries(schema)
	document, errs := gqlparser.LoadQueryWithRules(schema, introspection.Query, rules.NewDefaultRules())
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

// introspection returns the weight of the introspection fields in a selection, which is the number
// of values that they return. weights has the number of entries of each list; it is nil for the
// selection of an operation, where only __schema and __type count.
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
				continue // introspection starts at root fields only
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
func (c *CostCalculator) Of(op *graphql.OperationContext) int {
	constant, ok := c.constant.Load(op.Operation)
	if !ok {
		constant = constantCosts{
			schemaShare: c.introspection(op.Operation.SelectionSet, nil) / (maxSchemaReads * c.wholeSchema),
			fields:      make(map[*ast.Field]fieldTotal),
		}
		c.addConstant(op.Operation.SelectionSet, constant.fields, make(map[string]bool))
		c.constant.Store(op.Operation, constant)
	}
	s := selected{c, op.Variables, constant.fields}
	each, once := s.selectionSet(op.Operation.SelectionSet, "")
	return min(each+once+int(constant.schemaShare*MaxCost), unaffordable)
}

// maxHeaviest is the maximum length of the path that Heaviest returns. Each step costs as much as
// computing the cost of the operation.
const maxHeaviest = 6

// Heaviest returns the path to the field that most of the cost of an operation is for, such as
// thing.files.mesh, so that the client knows where to begin. It goes down while one field has more
// than half of the cost of the field above it. It is "" if no field has half of the cost of the
// operation.
func (c *CostCalculator) Heaviest(op *graphql.OperationContext) string {
	s := selected{CostCalculator: c, variables: op.Variables}
	var path []string
	set, entries, half := op.Operation.SelectionSet, 1, c.Of(op)/2
	for len(path) < maxHeaviest {
		field, cost := s.heaviest(set, entries)
		if field == nil || cost*entries <= half {
			break
		}
		path, set = append(path, field.Alias), field.SelectionSet
		entries, half = max(s.own(field).Entries, 1), cost/2
	}
	return strings.Join(path, ".")
}

// heaviest returns the field of a selection that costs most, and its cost. Fields that are not
// repeated for each of the entries count as much less.
func (s selected) heaviest(set ast.SelectionSet, entries int) (heaviest *ast.Field, most int) {
	consider := func(f *ast.Field, cost int) {
		if cost > most {
			heaviest, most = f, cost
		}
	}
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			total := s.field(selection)
			if total.once {
				total.cost /= entries
			}
			consider(selection, total.cost)
		case *ast.InlineFragment:
			consider(s.heaviest(selection.SelectionSet, entries))
		case *ast.FragmentSpread:
			consider(s.heaviest(selection.Definition.SelectionSet, entries))
		}
	}
	return heaviest, most
}

// addConstant adds the costs of the fields in a selection that do not depend on variables, and
// reports whether no field does. seen contains the result for each fragment that was visited.
func (c *CostCalculator) addConstant(set ast.SelectionSet, fields map[*ast.Field]fieldTotal,
	seen map[string]bool) bool {
	all := true
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			if !c.addConstant(s.SelectionSet, fields, seen) ||
				slices.ContainsFunc(s.Arguments, func(a *ast.Argument) bool { return hasVariable(a.Value) }) {
				all = false
			} else if s.Name != "__schema" && s.Name != "__type" {
				fields[s] = selected{c, nil, fields}.field(s)
			}
		case *ast.InlineFragment:
			all = c.addConstant(s.SelectionSet, fields, seen) && all
		case *ast.FragmentSpread:
			constant, ok := seen[s.Name]
			if !ok {
				constant = c.addConstant(s.Definition.SelectionSet, fields, seen)
				seen[s.Name] = constant
			}
			all = constant && all
		}
	}
	return all
}

func hasVariable(v *ast.Value) bool {
	return v.Kind == ast.Variable ||
		slices.ContainsFunc(v.Children, func(c *ast.ChildValue) bool { return hasVariable(c.Value) })
}

// unaffordable is the value at which sums and products of costs saturate.
const unaffordable = 1 << 30

// selected computes the costs of the selections of an operation.
type selected struct {
	*CostCalculator
	variables map[string]any
	constant  map[*ast.Field]fieldTotal
}

// below returns the cost of the fields that are selected on an object of a type. each is the cost
// of the fields that are repeated for each entry of the list that contains the object, and once
// that of the other fields. For a union or an interface, it returns the maximum of all its object
// types.
func (s selected) below(t *ast.Type, set ast.SelectionSet) (each, once int) {
	definition := s.schema.Types[t.Name()]
	if !definition.IsAbstractType() {
		return s.selectionSet(set, definition.Name)
	}
	for _, object := range s.schema.GetPossibleTypes(definition) {
		e, o := s.selectionSet(set, object.Name)
		each, once = max(each, e), max(once, o)
	}
	return each, once
}

// selectionSet is like below, for an object type. If object is "", it includes all fragments.
func (s selected) selectionSet(set ast.SelectionSet, object string) (each, once int) {
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			if selection.Name == "__schema" || selection.Name == "__type" {
				continue // see introspection
			}
			total, ok := s.constant[selection]
			if !ok {
				total = s.field(selection)
			}
			if total.once {
				once += total.cost
			} else {
				each += total.cost
			}
		case *ast.InlineFragment:
			if s.applies(selection.TypeCondition, object) {
				e, o := s.selectionSet(selection.SelectionSet, object)
				each, once = each+e, once+o
			}
		case *ast.FragmentSpread:
			if s.applies(selection.Definition.TypeCondition, object) {
				e, o := s.selectionSet(selection.Definition.SelectionSet, object)
				each, once = each+e, once+o
			}
		}
	}
	return min(each, unaffordable), min(once, unaffordable)
}

// field returns the cost of a field including its selection.
func (s selected) field(f *ast.Field) fieldTotal {
	cost := s.own(f)
	below, belowOnce := 0, 0
	if len(f.SelectionSet) > 0 {
		below, belowOnce = s.below(f.Definition.Type, f.SelectionSet)
	}
	total := min(cost.Own+belowOnce, unaffordable) + min(below, unaffordable)*min(max(cost.Entries, 1), unaffordable)
	return fieldTotal{min(total, unaffordable), cost.Once}
}

// applies reports whether a fragment with a type condition applies to an object type.
func (c *CostCalculator) applies(condition, object string) bool {
	if condition == "" || object == "" || condition == object {
		return true
	}
	definition := c.schema.Types[condition]
	return definition != nil && definition.IsAbstractType() &&
		slices.ContainsFunc(c.schema.GetPossibleTypes(definition), func(d *ast.Definition) bool { return d.Name == object })
}

// own returns the cost of a field without its selection. For a field of an interface, it is the
// maximum of all object types.
func (s selected) own(f *ast.Field) (cost Cost) {
	arguments := f.ArgumentMap(s.variables)
	objects := []*ast.Definition{f.ObjectDefinition}
	if f.ObjectDefinition.IsAbstractType() {
		objects = s.schema.GetPossibleTypes(f.ObjectDefinition)
	}
	for _, object := range objects {
		of := s.cost(object.Name+"."+f.Name, arguments)
		cost = Cost{max(cost.Own, of.Own), max(cost.Entries, of.Entries), of.Once}
	}
	return cost
}
