// What the pages of `addApiPages` load, with its licence, into the built package. As a dependency, Swagger UI would bring twelve megabytes
// and an install script that reports to its makers.
import { cpSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const source = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const target = join(import.meta.dirname, '../dist/swagger-ui');

for (const name of [
  'swagger-ui-bundle.js',
  'swagger-ui.css',
  'swagger-ui-bundle.js.LICENSE.txt',
  'LICENSE',
  'NOTICE',
]) {
  cpSync(join(source, name), join(target, name));
}
