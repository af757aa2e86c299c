// `pnpm pack:services [--out <folder>]`: what containers and systemd units run (deploy/README.md). Without `--out` in `.cache/services`.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { packServices } from '../deployment/artefacts.ts';

const root = resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: { out: { type: 'string', default: resolve(root, '.cache/services') } },
});
await packServices(resolve(values.out));
process.stdout.write(`packed into ${resolve(values.out)}\n`);
