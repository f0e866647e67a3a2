package launch

import (
	"strings"
	"testing"
)

func TestHandshakeLines(t *testing.T) {
	const dir = "/tmp/sh1"
	good := "1|1|unix|/tmp/sh1/plugin-dir2/plugin3|grpc"
	for line, want := range map[string]string{
		good:                             "",
		good + "|":                       "",
		good + "|QUJD|true":              "",
		"  " + good + "\r":               "",
		"1|1":                            "fields",
		"2|1|unix|/tmp/sh1/s|grpc":       "core version 2",
		"1|7|unix|/tmp/sh1/s|grpc":       "protocol 7",
		"1|1|tcp|127.0.0.1:1|grpc":       `network "tcp"`,
		"1|1|unix|/run/docker.sock|grpc": "PLUGIN_UNIX_SOCKET_DIR",
		"1|1|unix|/tmp/sh1/../x|grpc":    "PLUGIN_UNIX_SOCKET_DIR",
		"1|1|unix|/tmp/sh12/x|grpc":      "PLUGIN_UNIX_SOCKET_DIR",
		"1|1|unix|/tmp/sh1/s|netrpc":     `transport "netrpc"`,
	} {
		got, err := parseHandshake(line, dir)
		switch {
		case want == "" && (err != nil || got != good):
			t.Errorf("%q gave %q, %v", line, got, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q gave %v; an error with %q is expected", line, err, want)
		}
	}
}

func TestLogKeepsTheLastLinesWithinItsCap(t *testing.T) {
	l := &outputLog{limit: 100}
	w := &lineWriter{log: l}
	for range 50 {
		w.Write([]byte("nine"))
		w.Write([]byte(" char\nlast"))
		w.Write([]byte(" line\n"))
	}
	lines, lost := l.tail(1000)
	if len(lines) != 10 || lines[9] != "last line" || lost != 900 {
		t.Errorf("%d lines %q, %d lost", len(lines), lines, lost)
	}
	if tail, _ := l.tail(1); len(tail) != 1 {
		t.Errorf("tail of 1 has %d lines", len(tail))
	}
}

func TestLogCutsLongLinesAndControlCharacters(t *testing.T) {
	l := &outputLog{limit: DefaultLogBytes}
	w := &lineWriter{log: l}
	long := strings.Repeat("x", 1000)
	for range 1000 {
		w.Write([]byte(long))
	}
	w.Write([]byte("\n\x1b[2Jred\ttext\xff\r\nwithout an end"))
	w.close()
	lines, lost := l.tail(1000)
	if len(lines) != 3 || len(lines[0]) > longestLine+20 || lost != 1_000_000-longestLine {
		t.Fatalf("%d lines, the first of %d bytes, %d lost", len(lines), len(lines[0]), lost)
	}
	if lines[1] != "\uFFFD[2Jred text\uFFFD" || lines[2] != "without an end" {
		t.Errorf("lines %q", lines[1:])
	}
}
