package verbs

import (
	"reflect"
	"strings"
)

// TableFor is what a command line needs of a table of verbs, a pointer to a struct with a field for each
// verb. It is a table with the verb that the line begins with alone, or the whole table if it begins with
// none. Help, errors and values are the same. The parser prepares every flag of its table by reflection,
// which for all verbs takes a quarter of what the shortest commands take.
func TableFor(table any, line []string) any {
	for verb := range reflect.TypeOf(table).Elem().Fields() {
		name := verb.Tag.Get("name")
		if name == "" {
			name = strings.ToLower(verb.Name)
		}
		if len(line) > 0 && name == line[0] {
			return reflect.New(reflect.StructOf([]reflect.StructField{verb})).Interface()
		}
	}
	return table
}

// EnvironmentOf is the environment variables that the flags of a table of verbs read.
func EnvironmentOf(table any) []string { return environmentOf(reflect.TypeOf(table).Elem()) }

func environmentOf(table reflect.Type) (names []string) {
	for field := range table.Fields() {
		if env := field.Tag.Get("env"); env != "" {
			names = append(names, env)
		}
		if field.Type.Kind() == reflect.Struct {
			names = append(names, environmentOf(field.Type)...)
		}
	}
	return names
}
