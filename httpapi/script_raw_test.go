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

// raw is "raw LINE...": it sends the lines, each with CR LF behind it, and reads until the server
// closes the connection, which it must.
func (s *script) raw(lines []string) error {
	if err := s.open(lines); err != nil {
		return err
	}
	return s.finish(nil)
}

// open is "open LINE...": it sends the lines and leaves the connection open.
func (s *script) open(lines []string) error {
	if err := s.start(); err != nil {
		return err
	}
	conn, err := net.Dial("tcp", s.server.addr)
	if err != nil {
		return err
	}
	s.wire = wire{conn: conn, q: rawAsked(lines)}
	return s.write(lines)
}

// hears is "hears TEXT": it reads from the open connection until the text has come, which is not part of a response.
func (s *script) hears(args []string) error {
	text := strings.Join(args, " ")
	if s.wire.conn == nil {
		return errors.New("no connection is open")
	}
	if err := s.wire.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	var got []byte
	for one := make([]byte, 1); !bytes.HasSuffix(got, wireLine("> "+text)); got = append(got, one[0]) {
		if _, err := s.wire.conn.Read(one); err != nil {
			return fmt.Errorf("heard %q, want %q: %w", got, text, err)
		}
	}
	return nil
}

// finish is "finish LINE...": it sends more lines and reads to the end.
func (s *script) finish(lines []string) error {
	w := &s.wire
	if w.conn == nil {
		return errors.New("no connection is open")
	}
	if err := s.write(lines); err != nil {
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
	return s.readWire(err)
}

func (s *script) write(lines []string) error {
	for _, line := range lines {
		b := wireLine(line)
		if _, err := s.wire.conn.Write(b); err != nil && len(s.wire.got) == 0 {
			return nil // closed by the server already: what it answered tells why
		}
	}
	return nil
}

// wireLine turns a line of a script into bytes: "> text" is sent without a line end, and \r \n \t \0 \xHH \\ stand for bytes.
func wireLine(line string) []byte {
	end := "\r\n"
	if rest, ok := strings.CutPrefix(line, "> "); ok {
		line, end = rest, ""
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

// rawAsked reads method, path and key off the lines as far as they can be, for the checks every answer goes through.
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

// readWire cuts what came back into answers; the first is the one checks are about. closed is how reading ended.
func (s *script) readWire(closed error) error {
	in := bufio.NewReader(bytes.NewReader(s.wire.got))
	for {
		resp, err := http.ReadResponse(in, &http.Request{Method: s.wire.q.method})
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("the server sent no HTTP: %w: %q", err, s.wire.got)
		}
		a, err := readAnswer(s.wire.q, resp)
		if err != nil {
			return err
		}
		s.wire.answers = append(s.wire.answers, a)
	}
	if len(s.wire.answers) == 0 {
		return fmt.Errorf("the server closed the connection without an answer: %w", closed)
	}
	for _, a := range s.wire.answers {
		s.last = a
		if err := s.see(a); err != nil {
			return err
		}
	}
	s.last = s.wire.answers[0]
	return nil
}

// answers is "answers N": how many responses the connection brought.
func (s *script) answers(rule []string) error {
	return judge("the number of answers", fmt.Sprint(len(s.wire.answers)), rule)
}

// checkWire is "wire RULE", about the bytes of the connection, for spellings that readers of HTTP even out.
func (s *script) checkWire(rule []string) error {
	return judge("the wire", string(s.wire.got), rule)
}
