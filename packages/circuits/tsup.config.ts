// As every package, and the worker threads beside it: they are started by file.
import { defineConfig } from 'tsup';
import shared from '../../tooling/tsup.config.ts';

export default defineConfig({
  ...shared,
  entry: {
    index: 'src/index.ts',
    cli: 'src/cli.ts',
    'key-worker': 'src/setup/key-worker.ts',
    'points-worker': 'src/setup/points-worker.ts',
  },
});
