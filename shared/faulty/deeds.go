package faulty

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"scanhost/shared/contract"
	"scanhost/shared/contract/kernelv1"
)

func hang() { select {} }

func pause(ms int) { time.Sleep(time.Duration(ms) * time.Millisecond) }

// exit skips everything that could answer a call first.
func exit(status int) { unix.Exit(status) }

// out writes to the real standard output, as C code would: go-plugin replaces Go's own.
func out(text string) { _, _ = unix.Write(1, []byte(text)) }

func warn(text string) { _, _ = unix.Write(2, []byte(text)) }

func flood(fd int) {
	text := bytes.Repeat([]byte("the same line again and again\n"), 1000)
	for {
		if _, err := unix.Write(fd, text); err != nil {
			return
		}
	}
}

// deafSocket makes a socket beside the plugin's own and leaves it at that.
func deafSocket(line string) string {
	address := strings.Split(line, "|")[3] + "x"
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil || unix.Bind(fd, &unix.SockaddrUnix{Name: address}) != nil || unix.Listen(fd, 1) != nil {
		exit(6)
	}
	return "1|1|unix|" + address + "|grpc"
}

func floodPrints() {
	for {
		fmt.Println("the same line again and again")
	}
}

func longLine() {
	line := strings.Repeat("x", 1<<20)
	out(line)
	warn(line)
}

func spin() {
	for n := 0; ; n++ {
		if n < 0 {
			n = 0
		}
	}
}

func stopSelf() {
	_ = unix.Kill(unix.Getpid(), unix.SIGSTOP)
	hang()
}

func ignoreSignals() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
}

// dieBy takes the signal away from the Go runtime, which would exit with status 2 instead.
func dieBy(sig syscall.Signal) {
	var defaults [4]uintptr // struct sigaction of zeros is SIG_DFL
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&defaults)), 0, 8, 0, 0)
	_ = unix.Kill(unix.Getpid(), sig)
	hang()
}

func segfault() { dieBy(unix.SIGSEGV) }

func abort() { dieBy(unix.SIGABRT) }

type session int

const (
	sameSession session = iota
	ownSession
)

// grandchild starts a process that outlives this one and holds its outputs and fd 3.
func grandchild(s session) {
	executable, err := os.Executable()
	if err != nil {
		exit(6)
	}
	attributes := &os.ProcAttr{
		Files: []*os.File{nil, os.NewFile(1, "stdout"), os.NewFile(2, "stderr"), os.NewFile(contract.SocketFD, "fd3")},
		Sys:   &syscall.SysProcAttr{Setsid: s == ownSession},
	}
	process, err := os.StartProcess(executable, []string{executable, grandchildFlag}, attributes)
	if err != nil {
		warn(fmt.Sprintln("grandchild:", err))
		exit(6)
	}
	out(fmt.Sprintf("grandchild %d\n", process.Pid))
}

func leak() {
	for range 10 {
		_, _ = unix.Open("/dev/null", unix.O_RDONLY, 0)
	}
}

func refuse(*kernelv1.LaunchResponse) error {
	return status.Error(codes.Internal, "refused on purpose")
}

func inflate(r *kernelv1.LaunchResponse) error {
	r.Finding = &kernelv1.Finding{Kind: kernelv1.Finding_RACE, Text: strings.Repeat("x", 5<<20)}
	return nil
}

func nan(float32) float32 { return float32(math.NaN()) }
