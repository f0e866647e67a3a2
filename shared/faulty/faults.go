package faulty

import (
	"strings"

	"scanhost/shared/contract/kernelv1"
)

// Fault is one way to misbehave. The hooks that are nil do the honest thing.
type Fault struct {
	Name    string
	Verdict string // that a host should give: pass where it must not notice or must not mind
	Text    string

	clings    bool                                         // does not mind the end of fd 3
	start     func()                                       // before the handshake
	handshake func(line string) string                     // changes the handshake line
	stopped   func()                                       // after Shutdown
	describe  func(*kernelv1.DescribeResponse)             // changes the answer, or blocks
	prepare   func() (unsupported string)                  // before the answer
	launch    func(*job)                                   // before the computation
	compute   func(*job)                                   // instead of it
	after     func(*job)                                   // after it
	reply     func(*kernelv1.LaunchResponse) error         // changes the answer
	heartbeat func(stream kernelv1.Kernel_HeartbeatServer) // instead of beating
}

// Lookup finds a fault by name.
func Lookup(name string) (Fault, bool) {
	for _, f := range Faults {
		if f.Name == name {
			return f, true
		}
	}
	return Fault{}, false
}

// Faults is every fault there is. The README's table is made from it.
var Faults = append(append(startFaults, callFaults...), dataFaults...)

var startFaults = []Fault{
	{Name: "none", Verdict: "pass", Text: "computes honestly"},
	{Name: "hang-before-handshake", Verdict: "hung", Text: "never writes a handshake", start: hang},
	{Name: "exit-before-handshake", Verdict: "crashed", Text: "exits with status 3 before the handshake", start: func() { exit(3) }},
	{Name: "slow-start", Verdict: "pass", Text: "waits 700 ms before the handshake", start: func() { pause(700) }},
	{Name: "garbage-stdout", Verdict: "pass", Text: "writes banner lines before the handshake", start: func() { out("Welcome!\n\x1b[2J|1|2\n\x00\xff\n") }},
	{Name: "garbage-handshake", Verdict: "bad-plugin", Text: "writes lines, never a handshake", start: func() { out("ready|steady\ngo\n"); hang() }},
	{Name: "broken-handshake", Verdict: "bad-plugin", Text: "writes a handshake with three fields", handshake: func(string) string { return "1|1|unix" }},
	{Name: "other-socket", Verdict: "bad-plugin", Text: "names a socket outside its directory", handshake: func(string) string { return "1|1|unix|/run/docker.sock|grpc" }},
	{Name: "no-listener", Verdict: "bad-plugin", Text: "names a socket that does not exist", handshake: func(line string) string {
		return strings.Replace(line, "/plugin", "/nothing", 1)
	}},
	{Name: "deaf-socket", Verdict: "hung", Text: "names a socket that it never accepts from", handshake: deafSocket},
	{Name: "exit-after-handshake", Verdict: "crashed", Text: "exits with status 3 right after its handshake", handshake: func(line string) string {
		out(line + "\n")
		exit(3)
		return ""
	}},
	{Name: "cert-in-handshake", Verdict: "pass", Text: "sends a certificate nobody asked for", handshake: func(line string) string {
		return strings.TrimRight(line, "|") + "|" + strings.Repeat("QUJD", 40)
	}},
	{Name: "wrong-protocol", Verdict: "bad-plugin", Text: "speaks protocol 2", handshake: func(line string) string {
		return strings.Replace(line, "1|1|", "1|2|", 1)
	}},
	{Name: "bad-json-log", Verdict: "pass", Text: "logs JSON whose fields have wrong types", start: func() {
		warn(`{"@message":1,"@level":[],"@timestamp":{}}` + "\n")
	}},
	{Name: "flood-stdout", Verdict: "pass", Text: "writes to standard output without end", describe: func(*kernelv1.DescribeResponse) { go flood(1) }},
	{Name: "flood-stderr", Verdict: "pass", Text: "writes to standard error without end", start: func() { go flood(2) }},
	{Name: "flood-prints", Verdict: "pass", Text: "prints without end, by the language's own means", launch: func(*job) { go floodPrints() }},
	{Name: "no-shutdown", Verdict: "pass", Text: "lives on after Shutdown", stopped: hang},
	{Name: "outlive-host", Verdict: "pass", Text: "does not exit at the end of fd 3", clings: true},
	{Name: "no-heartbeat", Verdict: "hung", Text: "opens the heartbeat stream and sends nothing", heartbeat: func(kernelv1.Kernel_HeartbeatServer) { hang() }},
}

var callFaults = []Fault{
	{Name: "hang-in-describe", Verdict: "hung", Text: "does not answer Describe", describe: func(*kernelv1.DescribeResponse) { hang() }},
	{Name: "lying-name", Verdict: "bad-plugin", Text: "Describe gives another name than plugin.toml", describe: func(d *kernelv1.DescribeResponse) { d.Name = "lookback" }},
	{Name: "lying-version", Verdict: "bad-plugin", Text: "Describe gives another version", describe: func(d *kernelv1.DescribeResponse) { d.Version = "9.9.9" }},
	{Name: "hang-in-prepare", Verdict: "hung", Text: "does not answer Prepare", prepare: func() string { hang(); return "" }},
	{Name: "unsupported-always", Verdict: "unsupported", Text: "refuses every problem", prepare: func() string { return "no problem is supported" }},
	{Name: "spin-in-launch", Verdict: "hung", Text: "spins on the CPU in Launch", launch: func(*job) { spin() }},
	{Name: "silent", Verdict: "hung", Text: "stops itself by SIGSTOP in Launch", launch: func(*job) { stopSelf() }},
	{Name: "ignore-sigterm", Verdict: "hung", Text: "ignores every signal it can and does not answer Launch", launch: func(*job) { ignoreSignals(); hang() }},
	{Name: "crash-in-launch", Verdict: "crashed", Text: "dies by SIGSEGV in Launch", launch: func(*job) { segfault() }},
	{Name: "abort", Verdict: "crashed", Text: "dies by SIGABRT in Launch", launch: func(*job) { abort() }},
	{Name: "panic-in-launch", Verdict: "crashed", Text: "panics in Launch", launch: func(*job) { panic("on purpose") }},
	{Name: "exit-in-launch", Verdict: "crashed", Text: "exits with status 3 in Launch", launch: func(*job) { exit(3) }},
	{Name: "late-death", Verdict: "crashed", Text: "exits with status 4 soon after its first answer", launch: func(*job) { go func() { pause(20); exit(4) }() }},
	{Name: "error-in-launch", Verdict: "bad-plugin", Text: "answers Launch with an error", reply: refuse},
	{Name: "oversized-reply", Verdict: "bad-plugin", Text: "answers Launch with 5 MiB", reply: inflate},
	{Name: "long-line", Verdict: "pass", Text: "writes 1 MiB without a newline to both outputs", launch: func(*job) { longLine() }},
	{Name: "grandchild-holds-pipes", Verdict: "crashed", Text: "leaves a child holding its pipes and exits in Launch", launch: func(*job) { grandchild(sameSession); exit(5) }},
	{Name: "grandchild-setsid", Verdict: "crashed", Text: "the same, and the child has a session of its own", launch: func(*job) { grandchild(ownSession); exit(5) }},
	{Name: "leak-fds", Verdict: "pass", Text: "leaks ten descriptors in each launch", launch: func(*job) { leak() }},
}

var dataFaults = []Fault{
	{Name: "wrong-answer", Verdict: "wrong", Text: "one element in the middle is wrong", after: func(j *job) { j.middle(func(v float32) float32 { return 2*v + 1 }) }},
	{Name: "swapped-operands", Verdict: "wrong", Text: "combines right with left", compute: (*job).swapped},
	{Name: "nan-output", Verdict: "wrong", Text: "one element in the middle is NaN", after: func(j *job) { j.middle(nan) }},
	{Name: "unwritten", Verdict: "unwritten", Text: "leaves the last element as it was", compute: (*job).allButLast},
	{Name: "nondeterministic", Verdict: "nondeterministic", Text: "every second launch differs in a last bit", after: (*job).flicker},
	{Name: "input-write", Verdict: "crashed", Text: "writes to its input mapping, which faults", launch: (*job).writeInput},
	{Name: "input-reopen", Verdict: "pass", Text: "tries to write an input through /proc/self/fd; a sealed one refuses", launch: (*job).reopenInput},
	{Name: "truncate-output", Verdict: "pass", Text: "tries to truncate an output; a sealed one refuses", launch: (*job).truncateOutput},
	{Name: "out-of-bounds", Verdict: "out-of-bounds", Text: "writes one element past the output", after: (*job).overrun},
	{Name: "before-bounds", Verdict: "out-of-bounds", Text: "writes one element before the output", after: (*job).underrun},
}
