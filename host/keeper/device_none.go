//go:build !cuda

package main

import "errors"

const withCUDA = false

func openDevice() (device, error) { return nil, errors.ErrUnsupported }
