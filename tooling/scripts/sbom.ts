// `pnpm sbom [--out <folder>]`: what each published package depends on, in CycloneDX. Without `--out` in `.cache/sbom`. What is in a packed
// service is in its folder (`pnpm pack:services`).
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runSbom } from '../deployment/sbom.ts';
import { listWorkspacePackages } from '../src/workspace.ts';

const root = resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: { out: { type: 'string', default: resolve(root, '.cache/sbom') } },
});
const folder = resolve(values.out);
const published = listWorkspacePackages(root).filter(({ isPrivate }) => !isPrivate);
await runSbom([
  ...published.map(({ name }) => `--filter=${name}`),
  ...['--split', '--out', `${folder}/%s.cdx.json`],
]);
process.stdout.write(`wrote ${published.length} bills of materials into ${folder}\n`);
