package faulty

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"golang.org/x/sys/unix"

	"scanhost/shared/contract"
	"scanhost/shared/contract/kernelv1"
)

// beatEvery is the period of the heartbeat.
const beatEvery = 100 * time.Millisecond

// serve is the plugin's life.
func serve(f Fault) {
	s := &server{fault: f, received: map[uint64]int{}, prepared: map[uint64]*prepared{}}
	s.arrived = sync.NewCond(&s.mu)
	if os.Getenv(contract.Handshake.MagicCookieKey) != "" { // else there is no fd 3, and Serve says so
		go s.receive()
	}
	if f.start != nil {
		f.start()
	}
	if f.handshake != nil {
		changeHandshake(f.handshake)
	}
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: contract.Handshake,
		Plugins:         goplugin.PluginSet{contract.KernelService: &contract.KernelPlugin{Service: s}},
		GRPCServer:      goplugin.DefaultGRPCServer,
		Logger:          hclog.NewNullLogger(),
	})
	if f.stopped != nil {
		f.stopped()
	}
}

// changeHandshake puts a pipe where go-plugin prints its line.
func changeHandshake(change func(string) string) {
	real := os.Stdout
	read, write, err := os.Pipe()
	if err != nil {
		exit(6)
	}
	os.Stdout = write
	go func() {
		line, _ := bufio.NewReader(read).ReadString('\n')
		fmt.Fprintln(real, change(line[:len(line)-1]))
	}()
}

type prepared struct {
	problem *kernelv1.Problem
	sets    []map[string]array
}

type server struct {
	kernelv1.UnimplementedKernelServer
	fault Fault

	mu       sync.Mutex
	arrived  *sync.Cond
	received map[uint64]int // descriptors by id
	prepared map[uint64]*prepared
	handles  uint64
	launches int
}

// receive takes descriptors until the host is gone.
func (s *server) receive() {
	for {
		id, fd, err := contract.ReceiveDescriptor(contract.SocketFD)
		if err != nil && s.fault.clings {
			return
		}
		if err != nil {
			exit(0)
		}
		s.mu.Lock()
		s.received[id] = fd
		s.arrived.Broadcast()
		s.mu.Unlock()
	}
}

// take waits for a descriptor, which may come after the call that names it.
func (s *server) take(id uint64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if fd, ok := s.received[id]; ok {
			delete(s.received, id)
			return fd
		}
		s.arrived.Wait()
	}
}

func (s *server) Describe(context.Context, *kernelv1.DescribeRequest) (*kernelv1.DescribeResponse, error) {
	m, err := contract.ParseManifest(Manifest(s.fault.Name))
	if err != nil {
		return nil, err
	}
	d := contract.Describe(m)
	d.Backend = kernelv1.Backend_BACKEND_SIMT
	if s.fault.describe != nil {
		s.fault.describe(d)
	}
	return d, nil
}

func (s *server) Prepare(_ context.Context, r *kernelv1.PrepareRequest) (*kernelv1.PrepareResponse, error) {
	p := &prepared{problem: r.Problem}
	for _, set := range r.Sets {
		arrays := map[string]array{}
		for _, b := range set.Buffers {
			fd := s.take(b.Id)
			mapped, err := mapArray(fd, b)
			if err != nil {
				unix.Close(fd)
				return nil, err
			}
			arrays[b.Role] = mapped
		}
		p.sets = append(p.sets, arrays)
	}
	if s.fault.prepare != nil {
		if reason := s.fault.prepare(); reason != "" {
			p.release()
			return &kernelv1.PrepareResponse{Outcome: &kernelv1.PrepareResponse_Unsupported{
				Unsupported: &kernelv1.Unsupported{Reason: reason}}}, nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handles++
	s.prepared[s.handles] = p
	return &kernelv1.PrepareResponse{Outcome: &kernelv1.PrepareResponse_Prepared{
		Prepared: &kernelv1.Prepared{Handle: s.handles}}}, nil
}

func (p *prepared) release() {
	for _, set := range p.sets {
		for _, a := range set {
			a.unmap()
		}
	}
}

func (s *server) Launch(_ context.Context, r *kernelv1.LaunchRequest) (*kernelv1.LaunchResponse, error) {
	s.mu.Lock()
	p, ok := s.prepared[r.Handle]
	first := s.launches
	s.launches += int(r.Launches)
	s.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("handle %d is not prepared", r.Handle)
	}
	for i := range int(r.Launches) {
		j := newJob(p.problem, p.sets[(int(r.FirstSet)+i)%len(p.sets)])
		j.number = first + i
		s.run(j)
	}
	reply := &kernelv1.LaunchResponse{Completed: r.Launches}
	if s.fault.reply != nil {
		if err := s.fault.reply(reply); err != nil {
			return nil, err
		}
	}
	return reply, nil
}

func (s *server) run(j *job) {
	if s.fault.launch != nil {
		s.fault.launch(j)
	}
	if s.fault.compute != nil {
		s.fault.compute(j)
	} else {
		j.honest()
	}
	if s.fault.after != nil {
		s.fault.after(j)
	}
}

func (s *server) Release(_ context.Context, r *kernelv1.ReleaseRequest) (*kernelv1.ReleaseResponse, error) {
	s.mu.Lock()
	p := s.prepared[r.Handle]
	delete(s.prepared, r.Handle)
	s.mu.Unlock()
	if p != nil {
		p.release()
	}
	return &kernelv1.ReleaseResponse{}, nil
}

// Heartbeat says nothing of the phase: the watchdog needs the beat alone.
func (s *server) Heartbeat(_ *kernelv1.HeartbeatRequest, stream kernelv1.Kernel_HeartbeatServer) error {
	if s.fault.heartbeat != nil {
		s.fault.heartbeat(stream)
	}
	for {
		if err := stream.Send(&kernelv1.Beat{}); err != nil {
			return err
		}
		select {
		case <-stream.Context().Done():
			return nil
		case <-time.After(beatEvery):
		}
	}
}
