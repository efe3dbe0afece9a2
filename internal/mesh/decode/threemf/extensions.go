package threemf

import (
	"bytes"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
)

// namespaceBooleans is the beginning of the namespaces of the boolean operations extension. Its end
// is the version.
const namespaceBooleans = "http://schemas.3mf.io/3dmanufacturing/booleanoperations/"

// isBoolean reports whether a namespace is that of boolean operations.
func isBoolean(namespace string) bool { return strings.HasPrefix(namespace, namespaceBooleans) }

// readExtensions are the beginnings of the namespaces of the extensions that are read, or without
// which a mesh has the same shape.
var readExtensions = []string{
	"http://schemas.microsoft.com/3dmanufacturing/core/",
	"http://schemas.microsoft.com/3dmanufacturing/material/",
	"http://schemas.microsoft.com/3dmanufacturing/production/",
	"http://schemas.microsoft.com/3dmanufacturing/slice/",
	"http://schemas.microsoft.com/3dmanufacturing/beamlattice/",
	"http://schemas.microsoft.com/3dmanufacturing/trianglesets/",
}

// checkExtensions checks the extensions that the model requires, by their prefixes. A model with
// boolean operations has the shapes before them, which would be wrong to show. The readable rest of
// a file with another unknown extension is shown.
func (m *modelPart) checkExtensions() error {
	for prefix := range bytes.FieldsSeq(m.Attr("requiredextensions")) {
		namespace := m.NamespaceOf(prefix)
		if namespace == "" {
			namespace = string(prefix) // some programs write the namespace itself
		}
		if isBoolean(namespace) {
			return m.Errorf(mesh.Unsupported,
				"requires the extension for boolean operations, which is not supported: export the result as a mesh")
		}
		known := false
		for _, start := range readExtensions {
			known = known || strings.HasPrefix(namespace, start)
		}
		if !known && strings.Contains(namespace, "/3dmanufacturing/") {
			m.required = namespace
		}
	}
	return nil
}

// extensionName returns the name of an extension in its namespace, without the organization before
// it and the version after it.
func extensionName(namespace string) string {
	_, name, _ := strings.Cut(namespace, "/3dmanufacturing/")
	name, _, _ = strings.Cut(name, "/")
	return name
}
