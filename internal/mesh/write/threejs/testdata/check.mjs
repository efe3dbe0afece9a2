// Reads what Go wrote of real models with the programs it is for: ObjectLoader and GLTFLoader of three.js, and the glTF validator of Khronos.
//
//   node check.mjs FOLDER
//
// FOLDER holds models.json, a list of {name, file, triangles, points, min, max, glbMin, glbMax}, and FILE.json, FILE.glb and FILE.exact.glb
// of each. One that is textured has FILE.glb only, whose images need a browser. What is wrong is printed, and the exit status is 1.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Box3, ObjectLoader } from 'three';
import { GLTFLoader } from 'three/examples/jsm/loaders/GLTFLoader.js';
import validator from 'gltf-validator';

const folder = process.argv[2];
const models = JSON.parse(readFileSync(join(folder, 'models.json')));
let wrong = 0;

function complain(name, what) {
	wrong++;
	console.log(`${name}: ${what}`);
}

function checkScene(name, scene, model, min, max) {
	let triangles = 0, points = 0;
	scene.updateMatrixWorld(true);
	scene.traverse((o) => {
		if (o.isMesh) triangles += (o.geometry.index ?? o.geometry.attributes.position).count / 3;
		if (o.isPoints) points += o.geometry.attributes.position.count;
	});
	if (triangles !== model.triangles || points !== model.points) {
		complain(name, `${triangles} triangles and ${points} points, want ${model.triangles} and ${model.points}`);
	}
	const box = new Box3().setFromObject(scene, true);
	const slack = 1e-4 * Math.hypot(...max.map((x, i) => x - min[i])) + 1e-12;
	for (const [got, want] of [[box.min, min], [box.max, max]]) {
		if (!got.toArray().every((x, i) => Math.abs(x - want[i]) <= slack)) {
			complain(name, `the box has the corner ${got.toArray()}, want ${want}`);
		}
	}
}

async function validate(name, file) {
	const bytes = new Uint8Array(readFileSync(join(folder, file)));
	const report = await validator.validateBytes(bytes, { maxIssues: 5 });
	for (const issue of report.issues.messages) {
		// A triangle with a corner twice is the model's own.
		if (issue.code !== 'ACCESSOR_INDEX_TRIANGLE_DEGENERATE') complain(name, `${issue.code} at ${issue.pointer}: ${issue.message}`);
	}
	return bytes;
}

for (const model of models) {
	if (model.textured) {
		await validate(model.name, `${model.file}.glb`);
		continue;
	}
	const json = JSON.parse(readFileSync(join(folder, `${model.file}.json`)));
	const object = new ObjectLoader().parse(json);
	checkScene(`${model.name} in three.js`, object, model, model.min, model.max);
	if (object.userData.triangles !== model.triangles || object.userData.decimated !== false) {
		complain(model.name, `userData is ${JSON.stringify(object.userData)}`);
	}
	for (const ending of ['glb', 'exact.glb']) {
		const name = `${model.name} as ${ending}`;
		const bytes = await validate(name, `${model.file}.${ending}`);
		const gltf = await new GLTFLoader().parseAsync(bytes.buffer, '');
		checkScene(name, gltf.scene, model, model.glbMin, model.glbMax);
	}
}
console.log(`${models.length} models checked, ${wrong} complaints`);
process.exit(wrong || !models.length ? 1 : 0);
