// Compiles JSON Schemas with ajv in strict mode and checks documents against them. The last line it prints is the number of schemas.
//
//	node ajv.mjs FOLDER_OF_NODE_MODULES FOLDER_OF_SCHEMAS [SCHEMA DOCUMENT]...
import {createRequire} from 'node:module';
import {readdirSync, readFileSync} from 'node:fs';

const [modules, folder, ...documents] = process.argv.slice(2);
const require = createRequire(modules + '/');
const ajv = new (require('ajv/dist/2020').default)({strict: true, allErrors: true});
require('ajv-formats').default(ajv);
const schemas = {};
for (const name of readdirSync(folder)) {
  schemas[name] = JSON.parse(readFileSync(`${folder}/${name}`, 'utf8'));
  if (!schemas[name].$id) throw new Error(`${name} has no $id`);
  ajv.addSchema(schemas[name]); // others may refer to it
}
for (const name of Object.keys(schemas)) {
  try {
    ajv.getSchema(schemas[name].$id);
  } catch (e) {
    throw new Error(`${name}: ${e.message}`);
  }
}
for (let i = 0; i < documents.length; i += 2) {
  const check = ajv.getSchema(schemas[documents[i]].$id);
  if (!check(JSON.parse(readFileSync(documents[i + 1], 'utf8')))) throw new Error(`${documents[i + 1]}: ${ajv.errorsText(check.errors).slice(0, 1000)}`);
}
console.log(Object.keys(schemas).length);
