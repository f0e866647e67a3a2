package contract

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// A descriptor travels on fd 3 as one SOCK_SEQPACKET message of 16 bytes with one SCM_RIGHTS descriptor:
//
//	bytes 0..7   "SCANFD\x00\x01"
//	bytes 8..15  buffer id, little-endian
const descriptorMagic = "SCANFD\x00\x01"

// SendDescriptor sends fd under id. The caller keeps its own fd.
func SendDescriptor(socket int, id uint64, fd int) error {
	message := append([]byte(descriptorMagic), make([]byte, 8)...)
	binary.LittleEndian.PutUint64(message[8:], id)
	for {
		err := unix.Sendmsg(socket, message, unix.UnixRights(fd), nil, unix.MSG_NOSIGNAL)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// ReceiveDescriptor waits for the next descriptor. io.EOF means that the other side is gone.
func ReceiveDescriptor(socket int) (id uint64, fd int, err error) {
	message, control := make([]byte, 64), make([]byte, unix.CmsgSpace(4*4))
	n, controls, flags, _, err := unix.Recvmsg(socket, message, control, unix.MSG_CMSG_CLOEXEC)
	for errors.Is(err, unix.EINTR) {
		n, controls, flags, _, err = unix.Recvmsg(socket, message, control, unix.MSG_CMSG_CLOEXEC)
	}
	if err != nil {
		return 0, -1, err
	}
	if n == 0 && controls == 0 {
		return 0, -1, io.EOF
	}
	fds, err := rights(control[:controls])
	if err == nil && (n != 16 || string(message[:8]) != descriptorMagic || len(fds) != 1 || flags&unix.MSG_CTRUNC != 0) {
		err = fmt.Errorf("descriptor message of %d bytes with %d descriptors; 16 bytes and 1 are expected", n, len(fds))
	}
	if err != nil {
		for _, f := range fds {
			unix.Close(f)
		}
		return 0, -1, err
	}
	return binary.LittleEndian.Uint64(message[8:16]), fds[0], nil
}

func rights(control []byte) ([]int, error) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil, err
	}
	var fds []int
	for _, m := range messages {
		got, err := unix.ParseUnixRights(&m)
		if err != nil {
			return fds, err
		}
		fds = append(fds, got...)
	}
	return fds, nil
}
