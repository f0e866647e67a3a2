package launch

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"scanhost/shared/contract"
)

// meant matches a line that was meant as a handshake. Any other line before the handshake is output: banners
// of libraries come first in many plugins.
var meant = regexp.MustCompile(`^\s*\d+\|\d+\|`)

// parseHandshake checks "core|protocol|network|address|grpc[|...]" and returns it without the fields that
// follow: a certificate there would crash go-plugin. Only a socket inside dir is accepted, so that a plugin
// cannot point the host at somebody else's.
func parseHandshake(line, dir string) (string, error) {
	fields := strings.Split(strings.TrimSpace(line), "|")
	if len(fields) < 5 {
		return "", fmt.Errorf("handshake %q has %d fields; core|protocol|unix|address|grpc is expected", line, len(fields))
	}
	core, protocol, network, address, kind := fields[0], fields[1], fields[2], fields[3], fields[4]
	switch {
	case core != "1":
		return "", fmt.Errorf("handshake has go-plugin core version %s; 1 is accepted", core)
	case protocol != strconv.Itoa(contract.ProtocolVersion):
		return "", fmt.Errorf("plugin speaks protocol %s; this host speaks %d", protocol, contract.ProtocolVersion)
	case network != "unix":
		return "", fmt.Errorf("handshake has network %q; unix is accepted", network)
	case filepath.Clean(address) != address || !strings.HasPrefix(address, dir+"/"):
		return "", fmt.Errorf("handshake has address %q; a socket in PLUGIN_UNIX_SOCKET_DIR is accepted", address)
	case kind != "grpc":
		return "", fmt.Errorf("handshake has transport %q; grpc is accepted", kind)
	}
	return strings.Join(fields[:5], "|"), nil
}

// greeting is what standard output said before the connection.
type greeting struct {
	line string // for go-plugin
	err  error
}

// greet looks at one line of standard output. It takes the first line that was meant as a handshake; true
// says that the line is no output.
func (p *Process) greet(line string) bool {
	p.mu.Lock()
	waiting := !p.greeted
	if waiting && meant.MatchString(line) {
		p.greeted = true
	} else if waiting {
		p.banner = line
	}
	taken := waiting && p.greeted
	p.mu.Unlock()
	if taken {
		clean, err := parseHandshake(line, p.dir.path)
		p.greetings <- greeting{clean, err}
	}
	return taken
}
