package service

import (
	"bytes"
	"io"
	"log/slog"
	"time"
)

// logPatience is how long the server waits for one line of its log to be written.
const logPatience = time.Second

// NewLog makes a log that never stops the server. If nobody reads what is written to w (a terminal stopped with
// Ctrl-S, a pipe to a program that hangs), lines are dropped until somebody does. Then the log says how many.
// format makes the handler of a writer.
func NewLog(w io.Writer, format func(io.Writer) slog.Handler) *slog.Logger {
	return slog.New(format(&logWriter{to: w, format: format}))
}

// logWriter is called for one line at a time, because handlers of package slog hold a lock meanwhile.
type logWriter struct {
	to      io.Writer
	format  func(io.Writer) slog.Handler
	stuck   chan struct{} // closed at the end of a write that took too long; nil: there is none
	dropped int           // lines
}

// Write implements io.Writer. It returns no error: nothing can be done about one.
func (l *logWriter) Write(line []byte) (int, error) {
	if l.stuck != nil {
		select {
		case <-l.stuck:
			l.stuck = nil
		default:
			l.dropped++
			return len(line), nil
		}
	}
	var out bytes.Buffer
	if l.dropped > 0 {
		slog.New(l.format(&out)).Warn("lines of the log were dropped, because nobody read them", "lines", l.dropped)
		l.dropped = 0
	}
	out.Write(line) // a copy: the caller uses its slice again
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = l.to.Write(out.Bytes())
	}()
	select {
	case <-done:
	case <-time.After(logPatience):
		l.stuck = done
	}
	return len(line), nil
}
