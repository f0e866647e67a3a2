package launch

import (
	"bytes"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// longestLine is how much of one line is kept: a megabyte without a newline must not push out the rest.
const longestLine = 4 << 10

// outputLog keeps the last lines of a child's output, at most limit bytes of them.
type outputLog struct {
	mu    sync.Mutex
	limit int
	bytes int
	lost  int64
	lines []string
}

func (l *outputLog) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
	l.bytes += len(line) + 1
	for l.bytes > l.limit && len(l.lines) > 1 {
		l.bytes -= len(l.lines[0]) + 1
		l.lost += int64(len(l.lines[0]) + 1)
		l.lines = l.lines[1:]
	}
}

func (l *outputLog) cut(n int) {
	l.mu.Lock()
	l.lost += int64(n)
	l.mu.Unlock()
}

func (l *outputLog) tail(n int) ([]string, int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := max(0, len(l.lines)-n)
	return append([]string(nil), l.lines[from:]...), l.lost
}

// lineWriter splits one stream into lines, hands each to the stream's owner and logs it. Streams have a
// writer each, so that their lines do not mix.
type lineWriter struct {
	log  *outputLog
	line func(string) bool // called with each line; true: the line is not output and is not logged
	mu   sync.Mutex
	part []byte
	cut  int // bytes of this line beyond longestLine
	seen int // bytes so far
	rush int // bytes since the last pause
}

// After its first freeBytes a writer pauses every rushBytes: a plugin that floods its output then waits for
// the host, and does not keep a core of it busy while others are measured.
const (
	freeBytes = 4 << 20
	rushBytes = 64 << 10
	rushPause = 20 * time.Millisecond
)

func (w *lineWriter) Write(data []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen += len(data)
	if w.rush += len(data); w.rush >= rushBytes && w.seen > freeBytes {
		w.rush = 0
		time.Sleep(rushPause)
	}
	for rest := data; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		text := rest
		if end >= 0 {
			text = rest[:end]
		}
		room := min(len(text), longestLine-len(w.part))
		w.part = append(w.part, text[:room]...)
		w.cut += len(text) - room
		if end < 0 {
			break
		}
		w.flush()
		rest = rest[end+1:]
	}
	return len(data), nil
}

// close logs a last line that has no newline.
func (w *lineWriter) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.part) > 0 {
		w.flush()
	}
}

func (w *lineWriter) flush() {
	line := printable(string(w.part))
	if w.line == nil || !w.line(line) {
		if w.cut > 0 {
			line += " (line cut)"
			w.log.cut(w.cut)
		}
		w.log.add(line)
	}
	w.part, w.cut = w.part[:0], 0
}

// printable takes out what could move a terminal's cursor or change its state.
func printable(line string) string {
	clean := func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}
	return strings.Map(clean, strings.TrimRight(line, "\r"))
}
