package plugin

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"scanhost/shared/contract"
	"scanhost/shared/contract/kernelv1"
)

const manifestText = `
schema = 1
name = "fake"
version = "0.1.0"
protocol = [1]
backends = ["simt"]
[[op]]
name = "affine_scan"
dtypes = ["fp32"]
[[tunable]]
name = "items"
values = [1, 2, 4]
default = 2
`

func newTestServer(t *testing.T) *server {
	t.Helper()
	m, err := contract.ParseManifest(manifestText)
	if err != nil {
		t.Fatal(err)
	}
	return newServer(m, "hash", newDescriptors())
}

func TestTuningFillsDefaultsAndRefusesTheRest(t *testing.T) {
	s := newTestServer(t)
	for _, c := range []struct {
		asked map[string]int64
		want  int64
		err   string
	}{
		{nil, 2, ""},
		{map[string]int64{"items": 4}, 4, ""},
		{map[string]int64{"items": 3}, 0, "accepted are [1 2 4]"},
		{map[string]int64{"threads": 4}, 0, `"threads" is not one of`},
	} {
		got, err := s.tuning(c.asked)
		if c.err == "" && (err != nil || len(got) != 1 || got[0] != c.want) {
			t.Errorf("%v: %v, %v", c.asked, got, err)
		}
		if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%v: error %v, want %q", c.asked, err, c.err)
		}
	}
}

func TestPrepareRefusesWhatDoesNotAddUp(t *testing.T) {
	dims := map[string]int64{"rows": 1, "length": 4}
	for name, c := range map[string]struct {
		request *kernelv1.PrepareRequest
		want    string
	}{
		"no problem":      {&kernelv1.PrepareRequest{}, "not known"},
		"unknown op":      {&kernelv1.PrepareRequest{Problem: &kernelv1.Problem{Op: "sum"}}, `"sum" is not known`},
		"negative length": {&kernelv1.PrepareRequest{Problem: &kernelv1.Problem{Op: "affine_scan", Dtype: 1, Dims: map[string]int64{"rows": 1, "length": -1}}}, "-1"},
		"other backend": {&kernelv1.PrepareRequest{Problem: &kernelv1.Problem{Op: "affine_scan", Dtype: 1, Dims: dims},
			Backend: kernelv1.Backend_BACKEND_CPU}, "built for"},
		"no buffers": {&kernelv1.PrepareRequest{Problem: &kernelv1.Problem{Op: "affine_scan", Dtype: 1, Dims: dims},
			Backend: kernelv1.Backend_BACKEND_SIMT}, "no buffer set"},
	} {
		_, err := newTestServer(t).Prepare(context.Background(), c.request)
		if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want InvalidArgument with %q", name, err, c.want)
		}
	}
}

func TestHandlesThatWereNeverGiven(t *testing.T) {
	s := newTestServer(t)
	if _, err := s.Launch(context.Background(), &kernelv1.LaunchRequest{Handle: 7, Launches: 1}); status.Code(err) != codes.NotFound {
		t.Errorf("launch: %v", err)
	}
	if _, err := s.Release(context.Background(), &kernelv1.ReleaseRequest{Handle: 7}); status.Code(err) != codes.NotFound {
		t.Errorf("release: %v", err)
	}
}

func TestDescribeAgreesWithItsManifest(t *testing.T) {
	s := newTestServer(t)
	d, err := s.Describe(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if text := contract.Disagreement(s.manifest, d); text != "" {
		t.Error(text)
	}
	d.Version = "9.9.9"
	if contract.Disagreement(s.manifest, d) == "" {
		t.Error("another version agrees")
	}
}

func TestDescriptorMayComeAfterItsClaim(t *testing.T) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	d, gone := newDescriptors(), make(chan struct{})
	go d.receive(ends[1], func() { close(gone) })
	time.AfterFunc(20*time.Millisecond, func() { contract.SendDescriptor(ends[0], 42, int(os.Stderr.Fd())) })
	fd, err := d.claim(42)
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(fd)
	unix.Close(ends[0])
	select {
	case <-gone:
	case <-time.After(5 * time.Second):
		t.Error("the end of the host went unnoticed")
	}
}

func TestArrayOutsideItsMappingIsRefused(t *testing.T) {
	memory := make([]byte, 1024)
	m := mapping{base: unsafe.Pointer(&memory[0]), bytes: 1024}
	for _, c := range []struct {
		offset uint64
		n      int64
		ok     bool
	}{{0, 256, true}, {512, 128, true}, {512, 129, false}, {1024, 0, true}, {2048, 0, false}, {0, 1 << 62, false}, {0, -1, false}} {
		_, err := m.array(&kernelv1.Buffer{Offset: c.offset, Shape: []int64{c.n}, Dtype: kernelv1.DType_DTYPE_FP32})
		if (err == nil) != c.ok {
			t.Errorf("offset %d, %d elements: %v", c.offset, c.n, err)
		}
	}
}

func TestHashCoversEveryFileAndItsName(t *testing.T) {
	base := Source{Kernel: "k", Headers: fstest.MapFS{"a": {Data: []byte("1")}, "b": {Data: []byte("2")}}}
	hashes := map[string]bool{}
	for _, s := range []Source{
		base,
		{Kernel: "x", Headers: base.Headers},
		{Kernel: "k", Headers: fstest.MapFS{"a": {Data: []byte("12")}, "b": {Data: []byte("")}}},
		{Kernel: "k", Headers: fstest.MapFS{"a": {Data: []byte("1")}, "c": {Data: []byte("2")}}},
	} {
		h, err := s.hash()
		if err != nil {
			t.Fatal(err)
		}
		hashes[h] = true
	}
	if len(hashes) != 4 {
		t.Errorf("%d hashes for 4 different sources", len(hashes))
	}
}

func TestFindingsNameArraysByRole(t *testing.T) {
	p := &prepared{roles: []string{"a", "b", "h0", "h", "last_state"}}
	if got, want := p.named("writes array 3 at byte 8, not array 99"), "writes h at byte 8, not array 99"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
