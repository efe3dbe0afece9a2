package read

// triangulate cuts a polygon into triangles.
func triangulate(points [][3]float64, emit func(a, b, c int)) {
	for i := 2; i < len(points); i++ {
		emit(0, i-1, i)
	}
}
