// Fetches models and makes them fit to be shown: Y up, in millimetres, standing on the middle of the ground. text of an error is the name of
// its text in package language.
import { Box3, DoubleSide, Group, ObjectLoader, Vector3 } from 'three';

// fetchBytes calls back with how many bytes have come, as a length that is told beforehand may be that of compressed ones.
async function fetchBytes(address, arrived) {
  const response = await fetch(address);
  if (!response.ok) throw Object.assign(new Error(), { text: 'Answers', status: response.status });
  const chunks = [];
  let bytes = 0;
  for (const reader = response.body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(chunks);
    chunks.push(value);
    bytes += value.length;
    arrived(bytes);
  }
}

// loadThreejs reads JSON in the Object Scene format of three.js, version 4. userData of its object tells upAxis and millimetersPerUnit.
export async function loadThreejs(address, arrived) {
  const bytes = await fetchBytes(address, arrived);
  const object = new ObjectLoader().parse(JSON.parse(await bytes.text()));
  const turned = new Group().add(object);
  if (object.userData.upAxis === 'Z') turned.rotation.x = -Math.PI / 2;
  return new Model(turned, object.userData.millimetersPerUnit ?? 1);
}

// loadGLB reads GLB, which has Y up and is in metres.
export async function loadGLB(address, arrived) {
  const [{ GLTFLoader }, bytes] = await Promise.all([import('../loaders/GLTFLoader.js'), fetchBytes(address, arrived)]);
  const { scene } = await new GLTFLoader().parseAsync(await bytes.arrayBuffer(), '');
  return new Model(scene, 1000);
}

class Model {
  constructor(upright, millimetersPerUnit) {
    this.object = new Group().add(upright);
    this.parts = [];
    upright.traverse((part) => {
      if (part.isMesh || part.isPoints || part.isLine) this.parts.push(part);
    });
    for (const { material, geometry, isMesh, isPoints } of this.parts) {
      for (const m of [material].flat()) {
        if (isPoints) {
          // In pixels, for no file says how large its points are: the fewer, the larger.
          m.sizeAttenuation = false;
          m.size = Math.min(8, Math.max(2, 400 / Math.sqrt(geometry.attributes.position.count)));
        }
        // Half of the models that people print have faces the wrong way round.
        m.side = DoubleSide;
        // There is nothing around that a metal could mirror, and GLB without a material means metal.
        if (m.metalness) m.metalness = 0;
        if (isMesh && !geometry.attributes.normal) m.flatShading = true;
      }
    }
    this.wireframe = false;

    const box = new Box3().setFromObject(upright);
    if (box.isEmpty()) throw Object.assign(new Error(), { text: 'Empty' });
    const middle = box.getCenter(new Vector3());
    this.object.scale.setScalar(millimetersPerUnit);
    this.object.position.set(-middle.x, -box.min.y, -middle.z).multiplyScalar(millimetersPerUnit);
    this.size = box.getSize(new Vector3()).multiplyScalar(millimetersPerUnit);
  }

  // points gives vertices where they are on the stage: all of them, or some hundred thousand of each part. Each is good until the next.
  *points() {
    this.object.updateWorldMatrix(true, true);
    const point = new Vector3();
    const seen = new Set(); // the parts of a GLB with textures share their vertices
    for (const { geometry: { attributes: { position } }, matrixWorld } of this.parts) {
      if (seen.has(position)) continue;
      seen.add(position);
      const step = Math.max(1, Math.floor(position.count / 100_000));
      for (let i = 0; i < position.count; i += step) yield point.fromBufferAttribute(position, i).applyMatrix4(matrixWorld);
    }
  }

  // triangles counts those that are drawn.
  get triangles() {
    return this.parts.filter((part) => part.isMesh)
      .reduce((sum, { geometry }) => sum + (geometry.index ?? geometry.attributes.position).count / 3, 0);
  }

  // vertices counts those that are drawn, be it as points or as corners.
  get vertices() {
    return this.parts.reduce((sum, { geometry }) => sum + geometry.attributes.position.count, 0);
  }

  // ink is the colour of points that have none of their own: they have no sides that light could fall on.
  set ink(color) {
    for (const { material, isPoints } of this.parts) {
      if (isPoints && !material.vertexColors) material.color.set(color);
    }
  }

  // wireframe shows edges in place of sides. They throw no shadow, as theirs would be a scatter of dots.
  set wireframe(on) {
    for (const part of this.parts.filter((part) => part.isMesh)) {
      part.castShadow = !on;
      for (const m of [part.material].flat()) m.wireframe = on;
    }
  }

  dispose() {
    for (const { geometry, material } of this.parts) {
      geometry.dispose();
      for (const m of [material].flat()) {
        m.map?.source.data?.close?.(); // an ImageBitmap is not garbage until it is closed
        m.map?.dispose();
        m.dispose();
      }
    }
  }
}
