package dataset

import (
	"bytes"
	"io"
	"path"

	"modeldex/dataset/ndjson"
	"modeldex/dataset/record"
)

// at adds a fault of a field. Where the field, or one it was judged by, has a fault of its own,
// this one would only follow from that and is dropped.
func (l *loader) at(p place, field, text string, by ...string) {
	if !l.doubtful(p, field, by...) {
		l.later(pendingFinding{at: p, field: field, text: text})
	}
}

// warning adds a warning of a field where Check was asked for them, unless a fault explains it.
func (l *loader) warning(p place, field, text string, by ...string) {
	if l.warn && !l.doubtful(p, field, by...) {
		l.later(pendingFinding{p, field, text, Warning})
	}
}

func (l *loader) doubtful(p place, field string, by ...string) bool {
	if len(l.faulty) == 0 {
		return false
	}
	for _, name := range append(by, field) {
		if name != "" && l.faulty[member{p, name}] {
			return true
		}
	}
	return false
}

// later is called from all workers.
func (l *loader) later(f pendingFinding) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.findings)+len(l.pending) < maxFindings {
		l.pending = append(l.pending, f)
	} else {
		l.addLocked(Finding{Path: l.files[f.at.file], Line: int(f.at.line)}) // that there are too many
	}
}

// placePending looks up the columns of all pending findings, reading each file once; only a
// dataset with something wrong pays for it.
func (l *loader) placePending() {
	byFile := map[int32]map[place][]pendingFinding{} // file -> record -> findings
	for _, f := range l.pending {
		if byFile[f.at.file] == nil {
			byFile[f.at.file] = map[place][]pendingFinding{}
		}
		byFile[f.at.file][f.at] = append(byFile[f.at.file][f.at], f)
	}
	l.pending = nil
	for file, records := range byFile {
		l.placeFile(file, records)
		for at, fs := range records { // the file has changed since
			for _, f := range fs {
				l.add(Finding{Path: l.files[at.file], Line: int(at.line), Field: f.field, Text: f.text, Severity: f.severity})
			}
		}
	}
}

// placeFile adds the findings of the records it finds in a file, and removes them from records.
func (l *loader) placeFile(file int32, records map[place][]pendingFinding) {
	f, err := l.open(l.files[file])
	if err != nil {
		return
	}
	defer f.Close()
	if path.Ext(l.files[file]) == ".json" {
		b, err := io.ReadAll(&boundedReader{l.ctx, f, maxJSON})
		if err != nil {
			return
		}
		b = bytes.TrimPrefix(b, ndjson.ByteOrderMark)
		spans, _, _ := record.Split(b)
		walkSpans(b, file, spans, func(at place, text []byte) { l.placeRecord(at, text, records) })
		return
	}
	l.placeIn(file, f, records)
}

// placeIn adds the findings of the records it finds in lines, and removes them from records.
func (l *loader) placeIn(file int32, lines io.Reader, records map[place][]pendingFinding) {
	_ = ndjson.Each(lines, func(line int, text []byte) error { // what is not found is placed by its line
		l.placeRecord(place{file: file, line: int32(line)}, text, records)
		return nil
	})
}

// placeRecord adds the findings about the record that begins at.col bytes into text.
func (l *loader) placeRecord(at place, text []byte, records map[place][]pendingFinding) {
	for _, f := range records[at] {
		l.add(l.finding(at, text, record.Problem{Offset: record.Locate(text[at.col:], f.field), Field: f.field, Text: f.text}, f.severity))
	}
	delete(records, at)
}
