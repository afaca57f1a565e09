package index

import "slices"

// rows are the finished bytes of records, each followed by a comma, so that consecutive rows can
// be sent as one piece.
type rows struct{ blob }

// withComma appends an entry with its comma.
func withComma(add appender) appender {
	return func(dst []byte, i int) ([]byte, error) {
		dst, err := add(dst, i)
		return append(dst, ','), err
	}
}

func buildRows(n int, appenders func() appender) (rows, error) {
	b, err := buildBlob(full(n), func() appender { return withComma(appenders()) })
	return rows{b}, err
}

// rebuild makes new rows from these. from has for each new row its ordinal in these, or noRow.
// Blocks without a change are shared, other unchanged rows are copied, and the rest is rendered.
func (r *rows) rebuild(from []uint32, appenders func() appender) (rows, error) {
	b, err := buildBlob(r.parts(from), func() appender {
		add := withComma(appenders())
		return func(dst []byte, i int) ([]byte, error) {
			if from[i] != noRow {
				return append(dst, r.blob.at(from[i])...), nil
			}
			return add(dst, i)
		}
	})
	return rows{b}, err
}

// at returns the bytes of a record without the comma.
func (r *rows) at(ord uint32) []byte {
	b := r.blob.at(ord)
	return b[: len(b)-1 : len(b)-1]
}

// appendPieces appends pieces whose concatenation is the rows of ords with commas between them.
// Consecutive rows of one block are one piece. The bytes are shared.
func (r *rows) appendPieces(dst [][]byte, ords []uint32) [][]byte {
	dst = slices.Grow(dst, len(ords)+1)
	for from := 0; from < len(ords); {
		to := from + 1
		for to < len(ords) && ords[to] == ords[to-1]+1 && r.follows(ords[to]) {
			to++
		}
		piece := r.span(ords[from], uint32(to-from))
		if to == len(ords) {
			piece = piece[:len(piece)-1]
		}
		dst, from = append(dst, piece), to
	}
	return dst
}
