// Package verbs has the verbs `modeldex fit`, `runs` and `compare`: they answer from the dataset, without
// server or key, as tables for people or JSON for programs. See modeldex/dataset/verbs for how verbs are
// written.
package verbs
