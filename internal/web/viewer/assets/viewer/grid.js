// The ground below a model: a grid with cells of a round number of millimetres that fades into the distance.
import { BufferGeometry, Float32BufferAttribute, LineBasicMaterial, LineSegments } from 'three';

// Grid has cells of 1, 10, 100 … mm, so that some five to fifty lie along the model.
export class Grid extends LineSegments {
  constructor(width, depth) {
    const longest = Math.max(width, depth) || 1;
    const cell = 10 ** Math.floor(Math.log10(longest / 2));
    const cells = Math.ceil(longest * 1.6 / cell);
    const positions = [], colors = [];
    const corner = (i, j, strength) => {
      positions.push(i * cell, 0, j * cell);
      colors.push(1, 1, 1, strength * Math.max(0, 1 - Math.hypot(i, j) / cells) ** 1.2);
    };
    for (let i = -cells; i <= cells; i++) {
      const strength = i % 10 === 0 ? 1 : 0.6;
      for (let j = -cells; j < cells; j++) {
        corner(i, j, strength);
        corner(i, j + 1, strength);
        corner(j, i, strength);
        corner(j + 1, i, strength);
      }
    }
    const geometry = new BufferGeometry()
      .setAttribute('position', new Float32BufferAttribute(positions, 3))
      .setAttribute('color', new Float32BufferAttribute(colors, 4));
    super(geometry, new LineBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false }));
    this.cell = cell;
  }

  dispose() {
    this.geometry.dispose();
    this.material.dispose();
  }
}
