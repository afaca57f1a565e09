package ledgers_test

import (
	"testing"

	"modeldex/quota/etcd/etcdtest"
)

func TestMain(m *testing.M) { etcdtest.Main(m) }
