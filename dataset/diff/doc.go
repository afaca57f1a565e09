// Package diff lists what differs between two datasets, record by record and field by field, and
// records it release by release.
//
//   - Changes are what Compare found: for each record that was added, changed, withdrawn or removed, and
//     for a changed one each field with its old and its new value. Report writes them for people, for
//     programs and for a pull request.
//   - Records finds any record of a set as the line its file has.
//   - Record appends the changes of a release to data/changes/<year>.ndjson, whose form is that of
//     package history.
//
// Comparing reads each record once. Everything is safe for concurrent use.
package diff
