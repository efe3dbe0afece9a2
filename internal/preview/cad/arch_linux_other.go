//go:build linux && !amd64 && !arm64

package cad

const auditArch = 0
