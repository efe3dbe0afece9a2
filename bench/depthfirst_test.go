//go:build depthfirst

package main

import "github.com/meshyard/meshyard/graph"

func init() { depthFirst = (*graph.Graph).DepthFirst }
