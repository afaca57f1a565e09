// Package verbs has the verbs that answer from the dataset, without server or key, as tables for people or JSON for
// programs: fit, runs, compare and ask.
package verbs
