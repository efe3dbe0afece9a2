// Converts an STL file to the JSON of three.js by its own means, to be compared with:
//
//   node convert.mjs IN.stl OUT.json
//
// It prints the milliseconds that it took, without those to start node, and its peak memory in bytes.
import { readFileSync, writeFileSync } from 'node:fs';
import { Mesh, MeshStandardMaterial } from 'three';
import { STLLoader } from 'three/examples/jsm/loaders/STLLoader.js';

const start = performance.now();
const bytes = readFileSync(process.argv[2]);
const geometry = new STLLoader().parse(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
writeFileSync(process.argv[3], JSON.stringify(new Mesh(geometry, new MeshStandardMaterial()).toJSON()));
const took = Math.round(performance.now() - start);
const peak = Number(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
console.log(took, peak);
