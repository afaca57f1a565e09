package httpapi

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// wire is a connection a script writes bytes to itself, and what came back on it.
type wire struct {
	conn    net.Conn
	q       asked
	got     []byte
	answers []*answer
}

// verbRaw sends the lines of the block, each with CR LF behind it, and reads until the server
// closes the connection, which it must.
func (r *runner) verbRaw(_ string, block []string) error {
	if err := r.verbOpen("", block); err != nil {
		return err
	}
	return r.verbFinish("", nil)
}

// verbOpen sends the lines of the block and leaves the connection open.
func (r *runner) verbOpen(_ string, block []string) error {
	if err := r.start(); err != nil {
		return err
	}
	conn, err := net.Dial("tcp", r.server.addr)
	if err != nil {
		return err
	}
	r.wire = wire{conn: conn, q: rawAsked(block)}
	return r.write(block)
}

// verbHears reads from the open connection until a text has come; it is no part of an answer.
func (r *runner) verbHears(text string, _ []string) error {
	if r.wire.conn == nil {
		return errors.New("no connection is open")
	}
	if err := r.wire.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	var got []byte
	for one := make([]byte, 1); !bytes.HasSuffix(got, wireLine("> "+text)); got = append(got, one[0]) {
		if _, err := r.wire.conn.Read(one); err != nil {
			return fmt.Errorf("heard %q, want %q: %w", got, text, err)
		}
	}
	return nil
}

// verbFinish sends what the block adds and reads to the end.
func (r *runner) verbFinish(_ string, block []string) error {
	w := &r.wire
	if w.conn == nil {
		return errors.New("no connection is open")
	}
	if err := r.write(block); err != nil {
		return err
	}
	if err := w.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	got, err := io.ReadAll(w.conn)
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("the server did not close the connection; it sent %q", got)
	}
	// A reset comes when the server closes with bytes of ours unread; what it sent counts.
	w.got = got
	_ = w.conn.Close()
	w.conn = nil
	return r.readWire(err)
}

func (r *runner) write(block []string) error {
	for _, line := range block {
		b := wireLine(line)
		if _, err := r.wire.conn.Write(b); err != nil && len(r.wire.got) == 0 {
			return nil // closed by the server already: what it answered tells why
		}
	}
	return nil
}

// wireLine turns a line of a script into bytes: "(blank)" is an empty line, "> text" is sent
// without a line end, and \r \n \t \0 \xHH \\ stand for bytes.
func wireLine(line string) []byte {
	end := "\r\n"
	if rest, ok := strings.CutPrefix(line, "> "); ok {
		line, end = rest, ""
	}
	if line == "(blank)" {
		line = ""
	}
	var b []byte
	for i := 0; i < len(line); i++ {
		if line[i] != '\\' || i+1 == len(line) {
			b = append(b, line[i])
			continue
		}
		i++
		switch c := line[i]; c {
		case 'r':
			b = append(b, '\r')
		case 'n':
			b = append(b, '\n')
		case 't':
			b = append(b, '\t')
		case '0':
			b = append(b, 0)
		case 'x':
			var n byte
			if _, err := fmt.Sscanf(line[i+1:], "%02x", &n); err == nil {
				b = append(b, n)
				i += 2
			}
		default:
			b = append(b, c)
		}
	}
	return append(b, end...)
}

// rawAsked reads method, path and key off the lines as far as they can be, for the checks every
// answer goes through.
func rawAsked(block []string) asked {
	q := asked{header: http.Header{}}
	for i, line := range block {
		if i == 0 {
			q.method, q.path, _ = strings.Cut(line, " ")
			q.path, _, _ = strings.Cut(q.path, " ")
			if u, err := url.Parse(q.path); err == nil && u.Host != "" {
				q.path = u.RequestURI()
			}
		}
		if key, ok := strings.CutPrefix(line, "Authorization: "); ok {
			q.header.Set("Authorization", key)
		}
	}
	return q
}

// readWire cuts what came back into answers; the first is the one checks are about.
// closed is how reading ended.
func (r *runner) readWire(closed error) error {
	in := bufio.NewReader(bytes.NewReader(r.wire.got))
	for {
		resp, err := http.ReadResponse(in, &http.Request{Method: r.wire.q.method})
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("the server sent no HTTP: %w: %q", err, r.wire.got)
		}
		a, err := readAnswer(r.wire.q, resp)
		if err != nil {
			return err
		}
		r.wire.answers = append(r.wire.answers, a)
	}
	if len(r.wire.answers) == 0 {
		return fmt.Errorf("the server closed the connection without an answer: %w", closed)
	}
	for i := len(r.wire.answers) - 1; i >= 0; i-- {
		r.take(r.wire.answers[i])
	}
	return nil
}

// verbAnswers is "answers N": how many the connection brought.
func (r *runner) verbAnswers(rest string, _ []string) error {
	return judge("the number of answers", fmt.Sprint(len(r.wire.answers)), rest)
}

// verbWire judges the bytes of the connection, for spellings that readers of HTTP even out.
func (r *runner) verbWire(rest string, _ []string) error {
	return judge("the wire", string(r.wire.got), rest)
}
