package demo

import "math"

func vase() Shape {
	twist := func(angle, z float64) float64 { return 1 + 0.12*math.Sin(6*angle+z/14) }
	profile := []flat{{0, 0}}
	for i := range 41 {
		z := float64(i) * 3
		profile = append(profile, flat{28 + 12*math.Sin(z/30), z})
	}
	for i := 40; i >= 1; i-- { // the inside
		z := float64(i) * 3
		profile = append(profile, flat{26 + 12*math.Sin(z/30), z})
	}
	return lathe(180, twist, append(profile, flat{0, 3})...)
}

func bowl() Shape {
	ripple := func(angle, z float64) float64 { return 1 + 0.05*z/40*math.Sin(16*angle) }
	profile := []flat{{0, 0}, {25, 0}}
	for i := range 21 {
		t := float64(i) / 20
		profile = append(profile, flat{25 + 40*math.Sqrt(t), 2 + 38*t})
	}
	for i := 20; i >= 0; i-- {
		t := float64(i) / 20
		profile = append(profile, flat{23 + 40*math.Sqrt(t), 4 + 36*t})
	}
	return lathe(192, ripple, append(profile, flat{0, 4})...)
}

// gear returns a spur gear with a bore.
func gear(teeth int, radius, bore, thickness float64) Shape {
	n := teeth * 8
	tooth := func(angle float64) float64 {
		phase := math.Mod(angle*float64(teeth)/(2*math.Pi), 1)
		return radius + math.Max(-2.2, math.Min(2.2, 5*math.Sin(2*math.Pi*phase)))
	}
	return plate(outline(n, tooth), outline(n, circle(bore)), true, 0, thickness)
}

func gearPair() (s Shape) {
	s.add(gear(24, 26, 4, 8), point{})
	s.add(gear(12, 13, 3, 8), point{44, 0, 0})
	return s
}

func knot() Shape {
	return tube(300, 24, 6, func(t float64) point {
		a := 2 * math.Pi * t
		r := 26 + 12*math.Cos(3*a)
		return point{r * math.Cos(2*a), r * math.Sin(2*a), 18 + 12*math.Sin(3*a)}
	})
}

func pawn() Shape {
	profile := []flat{{0, 0}, {14, 0}, {14, 4}, {11, 7}, {8, 10}, {5.5, 18}, {4.5, 28}, {8, 30}, {8, 32}, {4, 33}}
	for i := range 13 {
		a := -math.Pi/3 + float64(i)*(math.Pi/3+math.Pi/2)/12
		profile = append(profile, flat{8 * math.Cos(a), 40 + 8*math.Sin(a)})
	}
	return lathe(96, nil, append(profile, flat{0, 48})...)
}

func bishop() Shape {
	return lathe(96, nil, flat{0, 0}, flat{16, 0}, flat{16, 5}, flat{12, 9}, flat{8, 14}, flat{6, 26}, flat{5, 42},
		flat{10, 45}, flat{10, 47}, flat{6, 49}, flat{8, 53}, flat{9, 58}, flat{8, 64}, flat{4, 71}, flat{2, 73}, flat{3, 75},
		flat{2, 77}, flat{0, 78})
}

// screw returns a screw of a diameter and a pitch, with a hexagonal head.
func screw(diameter, pitch, length float64) Shape {
	const sides = 48
	steps := int(length / pitch * 16)
	thread := grid(sides, steps, func(u, v float64) point {
		z := length * v
		turn := math.Mod(z/pitch-u+1000, 1)
		r := diameter/2 - pitch*0.6*math.Abs(2*turn-1)*math.Min(1, (length-z)/pitch)
		return point{r * math.Cos(2*math.Pi*u), r * math.Sin(2*math.Pi*u), z}
	})
	s := plate(outline(6, circle(diameter)), outline(6, circle(0)), true, -diameter*0.65, 0)
	s.add(thread, point{})
	for i := range sides { // the tip
		a, b := 2*math.Pi*float64(i)/sides, 2*math.Pi*float64(i+1)/sides
		r := diameter / 2
		s.triangle(point{r * math.Cos(a), r * math.Sin(a), length}, point{r * math.Cos(b), r * math.Sin(b), length},
			point{0, 0, length})
	}
	return s
}

func hook() Shape {
	path := []flat{{0, 50}, {0, 14}}
	path = arc(path, 14, 14, 14, math.Pi, 2*math.Pi)
	left, right := ribbon(append(path, flat{28, 24}), 6)
	s := plate(left, right, false, 0, 14)
	s.add(box(point{-6, 20, -6}, point{-1, 66, 20}), point{})
	return s
}

func clip() Shape {
	left, right := ribbon(arc(nil, 0, 0, 9, math.Pi*0.25, math.Pi*1.75), 3)
	s := plate(left, right, false, 0, 16)
	s.add(box(point{-13, -14, 0}, point{-9, 14, 16}), point{})
	return s
}

func stand() Shape {
	path := []flat{{0, 0}, {70, 0}}
	path = arc(path, 70, 5, 5, -math.Pi/2, math.Pi/2)
	path = append(path, flat{62, 10}, flat{25, 14}, flat{-8, 92})
	left, right := ribbon(path, 5)
	return plate(left, right, false, 0, 60)
}

func heart() Shape {
	at := func(scale float64) []flat {
		points := make([]flat, 120)
		for i := range points {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / 120)
			t := 2 * math.Pi * float64(i) / 120
			x := 16 * sin * sin * sin
			y := 13*cos - 5*math.Cos(2*t) - 2*math.Cos(3*t) - math.Cos(4*t)
			points[119-i] = flat{scale * x, scale * y}
		}
		return points
	}
	s := plate(at(1.4), at(0.9), true, 0, 5)
	s.add(plate(outline(48, circle(6)), outline(48, circle(3)), true, 0, 5), point{0, 11.5, 0})
	return s
}

func star() (s Shape) {
	points := outline(10, func(angle float64) float64 {
		if int(math.Round(angle*10/(2*math.Pi)))%2 == 0 {
			return 30
		}
		return 12
	})
	for i, p := range points {
		q := points[(i+1)%len(points)]
		s.triangle(point{p[0], p[1], 0}, point{q[0], q[1], 0}, point{0, 0, 9})
		s.triangle(point{q[0], q[1], 0}, point{p[0], p[1], 0}, point{0, 0, -9})
	}
	return s
}

func shell() Shape {
	return grid(320, 32, func(u, v float64) point {
		turn := 6 * math.Pi * u
		grow := math.Exp(0.16 * turn)
		sin, cos := math.Sincos(2 * math.Pi * v)
		r := grow * (1.1 + 0.9*cos)
		return point{r * math.Cos(turn), r * math.Sin(turn), 46 - grow*(2.2-0.9*sin)}
	})
}

// sponge returns a Menger sponge of a depth.
func sponge(depth int, size float64, at point) (s Shape) {
	if depth == 0 {
		return box(at, point{at[0] + size, at[1] + size, at[2] + size})
	}
	for i := range 27 {
		x, y, z := i%3, i/3%3, i/9
		if (x == 1 && y == 1) || (x == 1 && z == 1) || (y == 1 && z == 1) {
			continue
		}
		third := size / 3
		s.add(sponge(depth-1, third, point{}),
			point{at[0] + float64(x)*third, at[1] + float64(y)*third, at[2] + float64(z)*third})
	}
	return s
}

// pyramid returns a Sierpiński pyramid of a depth.
func pyramid(depth int, size float64) (s Shape) {
	h := size / 2
	if depth == 0 {
		a, b, c, d, top := point{-h, -h, 0}, point{h, -h, 0}, point{h, h, 0}, point{-h, h, 0}, point{0, 0, size * 0.7}
		s.quad(a, d, c, b)
		s.triangle(a, b, top)
		s.triangle(b, c, top)
		s.triangle(c, d, top)
		s.triangle(d, a, top)
		return s
	}
	part := pyramid(depth-1, h)
	q := h / 2
	for _, by := range []point{{-q, -q, 0}, {q, -q, 0}, {q, q, 0}, {-q, q, 0}, {0, 0, size * 0.35}} {
		s.add(part, by)
	}
	return s
}

func cup() Shape {
	six := func(r float64) []flat { return outline(6, circle(r)) }
	s := plate(six(42), six(38), true, 0, 100)
	s.add(plate(six(38), six(0), true, 0, 3), point{})
	return s
}

func terrain() (s Shape) {
	height := func(x, y float64) float64 {
		return 14 + 6*math.Sin(x/11)*math.Cos(y/13) + 3*math.Sin(x/5+y/7) + 2*math.Cos(y/4-x/9)
	}
	const n, size = 70, 80.0
	at := func(u, v float64) point { return point{size * u, size * v, height(size*u, size*v)} }
	s = grid(n, n, at)
	side := func(at func(t float64) point) {
		for i := range n {
			a, b := at(float64(i)/n), at(float64(i+1)/n)
			s.quad(point{a[0], a[1], 0}, point{b[0], b[1], 0}, b, a)
		}
	}
	side(func(t float64) point { return at(t, 0) })
	side(func(t float64) point { return at(1, t) })
	side(func(t float64) point { return at(1-t, 1) })
	side(func(t float64) point { return at(0, 1-t) })
	s.quad(point{0, 0, 0}, point{0, size, 0}, point{size, size, 0}, point{size, 0, 0})
	return s
}
