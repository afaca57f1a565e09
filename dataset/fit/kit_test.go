package fit

import (
	"context"
	"os"
	"sync"
	"testing"

	"modeldex/dataset"

	"modeldex/dataset/datasettest"
)

func TestMain(m *testing.M) { datasettest.Main(m) }

var shipped = sync.OnceValues(func() (*dataset.Set, error) {
	return dataset.Load(context.Background(), os.DirFS("../../data"), dataset.Options{})
})

func shippedSet(t testing.TB) *dataset.Set {
	t.Helper()
	set, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

var shippedOnce = sync.OnceValue(func() *Engine {
	set, err := shipped()
	if err != nil {
		return nil
	}
	return New(set)
})

func shippedEngine(t testing.TB) *Engine {
	t.Helper()
	shippedSet(t)
	return shippedOnce()
}
