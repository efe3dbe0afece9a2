// The stage: a canvas with lights, a ground, a camera and its controls, and at most one model.
import {
  DirectionalLight, HemisphereLight, MathUtils, Mesh, NeutralToneMapping, PerspectiveCamera, PlaneGeometry, Scene, ShadowMaterial, Vector3, WebGLRenderer,
} from 'three';
import { OrbitControls } from '../controls/OrbitControls.js';
import { Grid } from './grid.js';

// firstView gives the direction from a model to the viewer, the same as in the picture that the server draws of it (package render): from the
// front, the right and above, with broad faces turned to the viewer.
function firstView({ x: wide, y: high, z: deep }) {
  const azimuth = wide < deep * 0.6 ? 58 : 32;
  const elevation = high < 0.12 * Math.max(wide, deep) ? 52 : 26;
  return new Vector3().setFromSphericalCoords(1, MathUtils.degToRad(90 - elevation), MathUtils.degToRad(azimuth));
}

export class Stage {
  // covered gives how many pixels of the canvas are covered at its top and its bottom.
  constructor(canvas, context, covered) {
    this.canvas = canvas;
    this.covered = covered;
    this.renderer = new WebGLRenderer({ canvas, context, alpha: true, antialias: true });
    this.renderer.setClearAlpha(0);
    this.renderer.toneMapping = NeutralToneMapping;
    this.renderer.shadowMap.enabled = true;

    this.scene = new Scene();
    this.camera = new PerspectiveCamera(28);
    this.scene.add(this.camera);
    this.light();
    this.ground = new Mesh(new PlaneGeometry(1, 1).rotateX(-Math.PI / 2), new ShadowMaterial({ opacity: 0.22, depthWrite: false }));
    this.ground.receiveShadow = true;
    this.scene.add(this.ground);

    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = !matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.controls.dampingFactor = 0.15;
    this.controls.addEventListener('change', () => this.draw());
    canvas.addEventListener('keydown', (event) => this.steer(event));
    canvas.addEventListener('webglcontextrestored', () => this.draw());
    new ResizeObserver(() => this.resize()).observe(canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.tint());
  }

  // light gives a soft sky, three lights that go with the camera as in a photographer's studio, and one from above that throws the shadow.
  light() {
    this.scene.add(new HemisphereLight(0xffffff, 0x8f98a8, 1.1));
    for (const [intensity, x, y, z] of [[1.9, -1.5, 2, 4], [0.7, 3, 0.5, 2], [0.5, 1, 2, -3]]) {
      const light = new DirectionalLight(0xffffff, intensity);
      light.position.set(x, y, z);
      this.camera.add(light, light.target);
    }
    this.sun = new DirectionalLight(0xffffff, 0.6);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.radius = 6;
    this.scene.add(this.sun, this.sun.target);
  }

  // show puts a model in the place of the one before. Where that was the same in less detail, the view stays as it is.
  show(model, sameView) {
    if (this.model) {
      this.scene.remove(this.model.object, this.grid);
      this.model.dispose();
      this.grid.dispose();
    }
    this.model = model;
    const { x, y, z } = model.size;
    this.radius = model.size.length() / 2 || 1;
    this.grid = new Grid(x, z);
    this.grid.position.y = this.ground.position.y = -this.radius / 500;
    this.ground.scale.setScalar(this.radius * 8);
    this.sun.target.position.set(0, y / 2, 0);
    this.sun.position.set(-this.radius, y / 2 + 3 * this.radius, this.radius);
    const shade = this.sun.shadow.camera;
    [shade.left, shade.right, shade.bottom, shade.top] = [-1.5, 1.5, -1.5, 1.5].map((n) => n * this.radius);
    [shade.near, shade.far] = [this.radius, 7 * this.radius];
    shade.updateProjectionMatrix();
    this.scene.add(model.object, this.grid);
    this.controls.minDistance = this.radius / 50;
    this.controls.maxDistance = this.radius * 25;
    this.tint();
    if (sameView) this.draw();
    else this.reset();
  }

  // reset frames the model: the camera comes as near as all of it can be seen.
  reset() {
    if (!this.model) return;
    this.resize();
    const target = new Vector3(0, this.model.size.y / 2, 0);
    const back = firstView(this.model.size);
    const right = new Vector3(0, 1, 0).cross(back).normalize();
    const up = back.clone().cross(right);
    const half = Math.tan(MathUtils.degToRad(this.camera.fov) / 2) * 0.9;
    const tall = half * this.free();
    const wide = half * this.camera.aspect;
    let distance = this.radius / 10;
    for (const point of this.model.points()) {
      point.sub(target);
      const away = Math.max(Math.abs(point.dot(right)) / wide, Math.abs(point.dot(up)) / tall);
      distance = Math.max(distance, point.dot(back) + away);
    }
    // What is left of a glide is spent first, else it would go on from the new view.
    const glides = this.controls.enableDamping;
    this.controls.enableDamping = false;
    this.controls.update();
    this.controls.enableDamping = glides;
    this.controls.target.copy(target);
    this.camera.position.copy(target).addScaledVector(back, distance);
    this.controls.update();
    this.draw();
  }

  // free is the part of the height that nothing covers.
  free() {
    const { top, bottom } = this.covered();
    return Math.max(0.3, 1 - (top + bottom) / (this.canvas.clientHeight || 1));
  }

  // resize keeps the picture as sharp as the screen, though never finer than two to one, and its middle in the middle of what is not covered.
  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
    const { top, bottom } = this.covered();
    this.camera.setViewOffset(width, height, 0, (bottom - top) / 2, width, height);
    this.draw();
  }

  // draw draws once, soon. While the controls glide, each picture asks for the next.
  draw() {
    this.due ??= requestAnimationFrame(() => {
      this.due = undefined;
      if (!this.model) return;
      this.controls.update();
      const distance = this.camera.position.length();
      this.camera.near = Math.max(distance - 3.5 * this.radius, this.radius / 100);
      this.camera.far = distance + 6 * this.radius;
      this.camera.updateProjectionMatrix();
      this.renderer.render(this.scene, this.camera);
    });
  }

  steer(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (arrow && event.shiftKey) this.controls.pan(arrow[0] * 40, arrow[1] * 40);
    else if (arrow?.[0]) this.controls.rotateLeft(arrow[0] * Math.PI / 16);
    else if (arrow) this.controls.rotateUp(arrow[1] * Math.PI / 16);
    else if (event.key === '+' || event.key === '=') this.controls.dollyIn(0.85);
    else if (event.key === '-') this.controls.dollyOut(0.85);
    else if (event.key === '0') this.reset();
    else return;
    event.preventDefault();
  }

  // tint gives the ground, and points without a colour, those of the style sheet.
  tint() {
    if (!this.model) return;
    const color = (name) => getComputedStyle(this.canvas).getPropertyValue(name).trim();
    this.grid.material.color.set(color('--grid'));
    this.model.ink = color('--quiet');
    this.draw();
  }
}
