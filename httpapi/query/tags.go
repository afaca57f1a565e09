package query

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-json/jsontext"
)

// Of gives the parameters that the fields of a struct declare, those of embedded structs in their place. The tag query
// has the name and options, as in `query:"count,min=1,max=8"`:
//
//	min, max, above   bounds of a number
//	tokens            the number may end in k
//	bytes             most bytes of a text
//	most, ordered     how many values a list has at most, and that their order counts
//	default           the value that means the same as none
//	required          a request without it is rejected
//	name              a name of a record: name=model, hardware or tool
//	date, strict      see Date and Param
//	with              the parameter without which this one says nothing
//
// A type with the method Values has those values only. It panics where a tag is wrong.
func Of[T any]() []Param { return paramsOf(reflect.TypeFor[T]()) }

func paramsOf(t reflect.Type) (params []Param) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("query")
		switch {
		case f.Anonymous:
			params = append(params, paramsOf(f.Type)...)
		case tagged:
			name, options, _ := strings.Cut(tag, ",")
			p := Param{Name: name, Field: t.Name() + "." + f.Name}
			p.setType(f.Type)
			for option := range strings.SplitSeq(options, ",") {
				p.set(option)
			}
			params = append(params, p)
		}
	}
	return params
}

func (p *Param) setType(t reflect.Type) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[jsontext.Value]() {
		p.Kind = JSON
		return
	}
	if t.Kind() == reflect.Slice {
		p.Many, t = true, t.Elem()
	}
	if v, ok := reflect.Zero(t).Interface().(interface{ Values() []string }); ok {
		p.Enum = v.Values()
	}
	switch t.Kind() {
	case reflect.String:
	case reflect.Bool:
		p.Kind, p.Default = Flag, "false"
	case reflect.Int, reflect.Int64:
		p.Kind = Whole
	case reflect.Float64:
		p.Kind = Number
	default:
		panic(fmt.Sprintf("the parameter %s has the type %s", p.Name, t))
	}
}

func (p *Param) set(option string) {
	name, value, _ := strings.Cut(option, "=")
	number, _ := strconv.ParseFloat(value, 64)
	switch name {
	case "":
	case "min":
		p.Min = number
	case "above":
		p.Min, p.Above = number, true
	case "max":
		p.Max = number
	case "tokens":
		p.Tokens = true
	case "bytes":
		p.MaxBytes = int(number)
	case "most":
		p.Most = int(number)
	case "ordered":
		p.Ordered = true
	case "default":
		p.Default = value
	case "required":
		p.Required = "is required"
	case "name":
		p.Kind, p.Refers = Name, value
	case "date":
		p.Kind = Date
	case "strict":
		p.Strict = true
	case "with":
		p.With = value
	default:
		panic(fmt.Sprintf("the parameter %s has the option %q", p.Name, option))
	}
}

// Into fills the tagged fields of a struct; a parameter without a value leaves its field at the default, or zero.
func (v *Values) Into(dst any) { v.fill(reflect.ValueOf(dst).Elem()) }

func (v *Values) fill(dst reflect.Value) {
	for i := range dst.NumField() {
		f := dst.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("query"), ",")
		switch {
		case f.Anonymous:
			v.fill(dst.Field(i))
		case name == "" || v.Text(name) == "":
		case f.Type.Kind() == reflect.Pointer:
			if v.Given(name) {
				one := reflect.New(f.Type.Elem())
				setValue(one.Elem(), v.Text(name))
				dst.Field(i).Set(one)
			}
		case f.Type == reflect.TypeFor[jsontext.Value]():
			dst.Field(i).SetBytes([]byte(v.Text(name)))
		case f.Type.Kind() == reflect.Slice:
			list := reflect.MakeSlice(f.Type, len(v.Texts(name)), len(v.Texts(name)))
			for j, text := range v.Texts(name) {
				setValue(list.Index(j), text)
			}
			dst.Field(i).Set(list)
		default:
			setValue(dst.Field(i), v.Text(name))
		}
	}
}

// setValue reads a canonical text: a value of the type, or a word instead of a number.
func setValue(dst reflect.Value, text string) {
	switch dst.Kind() {
	case reflect.Bool:
		dst.SetBool(text == "true")
	case reflect.Int, reflect.Int64:
		n, _ := strconv.ParseInt(text, 10, 64)
		dst.SetInt(n)
	case reflect.Float64:
		n, _ := strconv.ParseFloat(text, 64)
		dst.SetFloat(n)
	default:
		dst.SetString(text)
	}
}
