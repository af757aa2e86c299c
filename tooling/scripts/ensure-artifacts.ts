// Makes the proving artifacts of the circuits named on the command line, unless the cache has them, so that no
// test spends its own time limit on it. Shows its progress on a terminal, one line for each stage elsewhere.
import { createArtifactStore } from '@pool/circuits';
import type { CircuitName } from '@pool/core';

function show(circuit: string) {
  let shownStage = '';
  return (stage: string, fraction: number): void => {
    if (process.stdout.isTTY) {
      const percent = `${Math.round(fraction * 100)} %`.padStart(5);
      process.stdout.write(`\r\u001b[K  ${circuit}: ${stage} ${percent}`);
    } else if (stage !== shownStage) {
      process.stdout.write(`  ${circuit}: ${stage}\n`);
    }
    shownStage = stage;
  };
}

const store = createArtifactStore();
for (const circuit of process.argv.slice(2) as CircuitName[]) {
  const startedAt = performance.now();
  await store.ensureArtifacts(circuit, { onProgress: show(circuit) });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(
    `${process.stdout.isTTY ? '\r\u001b[K' : ''}  ${circuit}: ready in ${seconds} s\n`,
  );
}
