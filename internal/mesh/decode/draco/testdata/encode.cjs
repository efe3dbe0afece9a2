// Makes the .drc files of this folder, see README.md: npm install draco3dgltf@1.5.7, node encode.cjs
const fs = require('fs');
const path = require('path');
const draco3d = require('draco3dgltf');

const stl = fs.readFileSync(path.join(__dirname, '../../../../../testdata/meshes/numpystl_HalfDonut_bin.stl'));

// build returns copies of the mesh side by side, with attributes that follow from the positions. The
// triangles that face up have other texture coordinates than the rest.
function build(copies) {
	const m = { positions: [], coords: [], colors: [], normals: [], joints: [], weights: [], indices: [] };
	const vertices = new Map();
	for (let copy = 0; copy < copies; copy++) {
		for (let t = 0; t < 288; t++) {
			const p = [0, 1, 2].map((k) => [0, 1, 2].map((i) => stl.readFloatLE(84 + 50 * t + 12 + 12 * k + 4 * i)));
			const a = p[1].map((x, i) => x - p[0][i]);
			const b = p[2].map((x, i) => x - p[0][i]);
			const chart = a[2] * b[0] - a[0] * b[2] > 0 ? 4 : 0;
			for (const [x, y, z] of p) {
				const key = [copy, x, y, z, chart].join();
				if (!vertices.has(key)) {
					vertices.set(key, m.positions.length / 3);
					m.positions.push(x + 4 * copy, y, z);
					m.coords.push(x + chart, z);
					m.colors.push(Math.floor(x * 80), Math.floor(y * 80), Math.floor(z * 80), 255);
					m.normals.push(0.6, 0, 0.8);
					m.joints.push(copy, copy + 1, 0, 300);
					m.weights.push(0.75, 0.25, 0, 0);
				}
				m.indices.push(vertices.get(key));
			}
		}
	}
	return m;
}

async function main() {
	const lib = await draco3d.createEncoderModule({});
	const encode = (name, copies, method, speed, bits, extra) => {
		const m = build(copies);
		const n = m.positions.length / 3;
		const builder = new lib.MeshBuilder();
		const mesh = new lib.Mesh();
		builder.AddFacesToMesh(mesh, m.indices.length / 3, new Uint32Array(m.indices));
		if (extra) builder.AddFloatAttributeToMesh(mesh, lib.NORMAL, n, 3, new Float32Array(m.normals));
		builder.AddFloatAttributeToMesh(mesh, lib.POSITION, n, 3, new Float32Array(m.positions));
		if (extra) {
			builder.AddFloatAttributeToMesh(mesh, lib.TEX_COORD, n, 2, new Float32Array(m.coords));
			builder.AddUInt8Attribute(mesh, lib.COLOR, n, 4, new Uint8Array(m.colors));
			builder.AddUInt16Attribute(mesh, lib.GENERIC, n, 4, new Uint16Array(m.joints));
			builder.AddFloatAttributeToMesh(mesh, lib.GENERIC, n, 4, new Float32Array(m.weights));
		}
		const encoder = new lib.Encoder();
		encoder.SetSpeedOptions(speed, speed);
		encoder.SetEncodingMethod(method);
		if (bits > 0) {
			for (const type of [lib.POSITION, lib.NORMAL, lib.TEX_COORD, lib.GENERIC]) {
				encoder.SetAttributeQuantization(type, type === lib.NORMAL ? 8 : bits);
			}
		}
		const out = new lib.DracoInt8Array();
		const length = encoder.EncodeMeshToDracoBuffer(mesh, out);
		if (length === 0) throw new Error(name);
		fs.writeFileSync(path.join(__dirname, name + '.drc'), Buffer.from(Array.from({ length }, (_, i) => out.GetValue(i) & 255)));
	};
	const { MESH_SEQUENTIAL_ENCODING: sequential, MESH_EDGEBREAKER_ENCODING: edgebreaker } = lib;
	encode('sequential', 1, sequential, 5, 14, true);
	encode('sequential_exact', 1, sequential, 10, 0, false);
	encode('standard', 1, edgebreaker, 7, 14, false);
	encode('standard_attributes', 1, edgebreaker, 4, 14, true);
	encode('single_connectivity', 1, edgebreaker, 10, 12, true);
	encode('valence', 4, edgebreaker, 4, 12, false);
	encode('valence_attributes', 4, edgebreaker, 0, 14, true);
}

main();
