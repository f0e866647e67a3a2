package op

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unsafe"
)

// Arrays are little-endian bytes everywhere outside this file. fp32 is read in place where the machine and the
// alignment allow; the 16-bit types are widened a span at a time, so nothing the size of the problem is stored.

var littleEndian = func() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 1
}()

// floats gives the bytes of an fp32 array as values that share their memory, or nil where that is impossible.
func floats(raw []byte) []float32 {
	if !littleEndian || len(raw) < 4 || uintptr(unsafe.Pointer(unsafe.SliceData(raw)))%4 != 0 {
		return nil
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(raw))), len(raw)/4)
}

// column reads spans of one array as float32.
type column struct {
	raw    []byte
	dtype  DType
	direct []float32
	buffer []float32
}

func newColumn(raw []byte, dtype DType) *column {
	c := &column{raw: raw, dtype: dtype}
	if dtype == FP32 {
		c.direct = floats(raw)
	}
	return c
}

// span is elements [lo, hi); valid until the next call.
func (c *column) span(lo, hi int64) []float32 {
	if c.direct != nil {
		return c.direct[lo:hi]
	}
	if int64(cap(c.buffer)) < hi-lo {
		c.buffer = make([]float32, hi-lo)
	}
	out := c.buffer[:hi-lo]
	size := c.dtype.Size()
	Decode(out, c.raw[lo*size:hi*size], c.dtype)
	return out
}

// holds says whether element i has the bits of a 32-bit pattern repeated over the array.
func (c *column) holds(i int64, pattern uint32) bool {
	if c.dtype.Size() == 4 {
		return binary.LittleEndian.Uint32(c.raw[4*i:]) == pattern
	}
	return binary.LittleEndian.Uint16(c.raw[2*i:]) == uint16(pattern>>(16*(i%2)))
}

// Decode widens little-endian elements of a storage type.
func Decode(dst []float32, raw []byte, dtype DType) {
	switch dtype {
	case FP32:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
	case FP16:
		for i := range dst {
			dst[i] = fromHalf(binary.LittleEndian.Uint16(raw[2*i:]))
		}
	case BF16:
		for i := range dst {
			dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(raw[2*i:])) << 16)
		}
	}
}

// Encode rounds values to a storage type, to nearest, ties to even.
func Encode(raw []byte, src []float32, dtype DType) {
	switch dtype {
	case FP32:
		for i, v := range src {
			binary.LittleEndian.PutUint32(raw[4*i:], math.Float32bits(v))
		}
	case FP16:
		for i, v := range src {
			binary.LittleEndian.PutUint16(raw[2*i:], toHalf(v))
		}
	case BF16:
		for i, v := range src {
			binary.LittleEndian.PutUint16(raw[2*i:], toBrain(v))
		}
	}
}

func fromHalf(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch exponent {
	case 0:
		if fraction == 0 {
			return math.Float32frombits(sign)
		}
		shift := uint32(bits.LeadingZeros16(uint16(fraction))) - 5 // brings the leading one to bit 10
		return math.Float32frombits(sign | (113-shift)<<23 | (fraction<<shift&1023)<<13)
	case 31:
		return math.Float32frombits(sign | 255<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}

func toHalf(v float32) uint16 {
	b := math.Float32bits(v)
	sign, magnitude := uint16(b>>16)&0x8000, b&0x7fffffff
	switch {
	case magnitude > 255<<23:
		return sign | 0x7e00
	case magnitude >= 0x477ff000: // 65520, half way past the largest
		return sign | 0x7c00
	case magnitude < 113<<23: // below the smallest normal: the unit is 2^-24
		return sign | uint16(math.RoundToEven(float64(math.Float32frombits(magnitude))*(1<<24)))
	}
	return sign | uint16((magnitude-112<<23+0xfff+magnitude>>13&1)>>13)
}

func toBrain(v float32) uint16 {
	b := math.Float32bits(v)
	if b&0x7fffffff > 255<<23 {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}
