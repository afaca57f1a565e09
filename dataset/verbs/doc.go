// Package verbs has the verbs about datasets: `modeldex check`, `fmt`, `diff`, `changes`, `import` and `resolve`; and
// what all verbs of the program share. Each verb is a struct. Its fields are flags, as tags for the command-line parser (see
// main.go). Its Run method does one thing with a function of the room that owns the work, and prints the result.
//
// # A new verb
//
// Write a struct with its flags and a method Run(*Env) error in a file of its own, in the verbs package of the room
// that owns the work; add it to the table in main.go, with its help. Results go to Env.Stdout, everything else to
// Env.Stderr. Return an error to end with 1; check the values of flags in a method Validate() error, whose errors end
// with 2 before anything has been done. A verb that must clean up when a signal ends it uses UntilSignal and CutShort.
// Read files that a command line names with ReadFile or OpenFile, and ask CheckOutput before the work, so that what is
// missing is said in one way. Embed Dataset for --data, or DatasetArg to take the directory as an argument too, and
// Format if there is a form for programs. Describe the verb in a script of httpapi/testdata/scripts.
package verbs
