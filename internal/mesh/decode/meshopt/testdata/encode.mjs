// Writes vectors.json: data of each mode and filter, encoded and decoded by the npm package
// meshoptimizer 1.3.0. Usage: node encode.mjs [COUNT [SEED]]
import { MeshoptEncoder, MeshoptDecoder } from 'meshoptimizer';
import fs from 'fs';
import path from 'path';

let state = Number(process.argv[3] || 1);
function random() { // from 0 to 1
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}
const below = (n) => Math.floor(random() * n);

// grid returns the triangles of a grid, some of them in random order.
function grid(width, height) {
  const triangles = [];
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const a = y * (width + 1) + x;
      triangles.push([a, a + 1, a + width + 1], [a + width + 1, a + 1, a + width + 2]);
    }
  }
  for (let n = below(3) * below(triangles.length); n > 0; n--) {
    const i = below(triangles.length), j = below(triangles.length);
    [triangles[i], triangles[j]] = [triangles[j], triangles[i]];
  }
  return triangles.flat();
}

function indices(list, stride) {
  return new Uint8Array((stride == 2 ? new Uint16Array(list) : new Uint32Array(list)).buffer);
}

function floats(count, width) {
  const values = new Float32Array(count * width);
  for (let i = 0; i < count; i++) {
    const v = [0, 0, 0, 0].map(() => random() * 2 - 1);
    const length = Math.hypot(...v.slice(0, width)) || 1;
    for (let k = 0; k < width; k++) values[i * width + k] = v[k] / length;
  }
  return values;
}

// One example of each kind, which depends on i.
function example(i) {
  const count = i ? 1 + below(40) : 300; // the first has two blocks
  switch (i % 9) {
    case 7: { // values that fit the channel modes of version 1
      const stride = 4 * (1 + below(4)), size = 2 << below(2), values = new Uint8Array(count * stride), view = new DataView(values.buffer);
      const step = 2 ** below(6 * size), shift = below(24);
      for (let j = 0; j < values.length; j += size) {
        if (size == 2) view.setUint16(j, (j < stride ? below(65536) : view.getUint16(j - stride, true) + below(step) - step / 2) & 65535, true);
        else view.setUint32(j, (j < stride ? below(2 ** 32) : view.getUint32(j - stride, true) ^ below(Math.min(step, 256)) << shift) >>> 0, true);
      }
      return { mode: 'ATTRIBUTES', filter: 'NONE', count, stride, values };
    }
    case 8: {
      const stride = below(2) ? 4 : 8, bits = stride == 4 ? 2 + below(7) : [16, 2 + below(15)][below(2)];
      return { mode: 'ATTRIBUTES', filter: 'COLOR', count, stride, values: MeshoptEncoder.encodeFilterColor(floats(count, 4).map(Math.abs), count, stride, bits) };
    }
    case 0: {
      const stride = 4 * (1 + below(5)), values = new Uint8Array(count * stride), step = 1 << below(8);
      for (let j = 0; j < values.length; j++) values[j] = j < stride ? below(256) : values[j - stride] + below(step);
      return { mode: 'ATTRIBUTES', filter: 'NONE', count, stride, values };
    }
    case 1: {
      const stride = below(2) ? 2 : 4, list = grid(1 + below(12), 1 + below(12));
      return { mode: 'TRIANGLES', filter: 'NONE', count: list.length, stride, values: indices(list, stride) };
    }
    case 2: {
      const stride = below(2) ? 2 : 4;
      const list = Array.from({ length: count }, (_, j) => (j % 3 ? j : below(stride == 2 ? 65536 : 2 ** 32)));
      return { mode: 'INDICES', filter: 'NONE', count, stride, values: indices(list, stride) };
    }
    case 3: {
      const stride = below(2) ? 4 : 8, v = floats(count, 3), four = new Float32Array(4 * count);
      for (let j = 0; j < count; j++) for (let k = 0; k < 3; k++) four[4 * j + k] = v[3 * j + k];
      return { mode: 'ATTRIBUTES', filter: 'OCTAHEDRAL', count, stride, values: MeshoptEncoder.encodeFilterOct(four, count, stride, stride == 4 ? 8 : 12) };
    }
    case 4:
      return { mode: 'ATTRIBUTES', filter: 'QUATERNION', count, stride: 8, values: MeshoptEncoder.encodeFilterQuat(floats(count, 4), count, 8, 12) };
    case 5: {
      const stride = 4 * (1 + below(4));
      const v = floats(count, stride / 4).map((x) => x * 1000);
      return { mode: 'ATTRIBUTES', filter: 'EXPONENTIAL', count, stride, values: MeshoptEncoder.encodeFilterExp(v, count, stride, 15) };
    }
    default: {
      const list = Array.from({ length: 3 * count }, () => below(below(2) ? 20 : 2 ** 31));
      list.splice(0, 3, 0, 1, 2);
      list.push(0, 1, 2); // the encoder begins again with vertex 0
      return { mode: 'TRIANGLES', filter: 'NONE', count: list.length, stride: 4, values: indices(list, 4) };
    }
  }
}

await MeshoptEncoder.ready;
await MeshoptDecoder.ready;
const out = [];
for (let i = 0; i < Number(process.argv[2] || 18); i++) {
  const { mode, filter, count, stride, values } = example(i);
  const versions = mode == 'ATTRIBUTES' ? [0, 1] : [0];
  for (const version of versions) {
    const encoded = version ? MeshoptEncoder.encodeVertexBufferLevel(values, count, stride, below(4), version)
      : MeshoptEncoder.encodeGltfBuffer(values, count, stride, mode, 0);
    const decoded = new Uint8Array(count * stride);
    MeshoptDecoder.decodeGltfBuffer(decoded, count, stride, encoded, mode, filter);
    out.push({ mode, filter, count, stride, encoded: Buffer.from(encoded).toString('base64'), decoded: Buffer.from(decoded).toString('base64') });
  }
}
fs.writeFileSync(path.join(process.cwd(), 'vectors.json'), out.map((v) => JSON.stringify(v)).join('\n') + '\n');
