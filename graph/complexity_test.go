package graph

import (
	"reflect"
	"strings"
	"testing"
)

// Each connection of the schema costs what it may hold: one that cost a single field would be a way around the limit.
func TestConnectionsAreWeighed(t *testing.T) {
	var config Config
	weighConnections(&config.Complexity)
	weighed := 0
	for _, object := range reflect.ValueOf(config.Complexity).Fields() {
		for _, field := range object.Fields() {
			if field.IsNil() {
				continue
			}
			weighed++
			for given, want := range map[*int32]int64{nil: 30*7 + 1, new(int32(100)): 100*7 + 1, new(int32(-5)): 7 + 1} {
				in := []reflect.Value{reflect.ValueOf(7), reflect.ValueOf(given)}
				for i := 2; i < field.Type().NumIn(); i++ {
					in = append(in, reflect.Zero(field.Type().In(i)))
				}
				if got := field.Call(in)[0].Int(); got != want {
					t.Errorf("%v of a child that costs 7: %d, want %d", field.Type(), got, want)
				}
			}
		}
	}
	connections := 0
	for _, definition := range New(nil).Schema().Types {
		for _, field := range definition.Fields {
			if strings.HasSuffix(field.Type.Name(), "Connection") {
				connections++
			}
		}
	}
	if weighed != connections || connections < 20 {
		t.Errorf("%d connections cost what they may hold, of %d", weighed, connections)
	}
}
