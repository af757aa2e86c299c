// `pnpm bench payroll [--recipients 1280] [--ceiling 256]`: one roster paid by `disburse --split` on a chain with blocks of 12 seconds and 13
// minutes of finality: payees an hour, compared with what the proofs alone would allow, and the seconds of each stage. A whole deployment
// of real processes, with real proofs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { connectShieldedPool } from '@pool/contracts';
import { chooseBatchSize } from '@pool/core';
import { readData } from '@pool/testkit';
import { JsonRpcProvider } from 'ethers';
import { agentScript } from '../../apps/sandbox/src/processes/agent-process.ts';
import { ensureProvingKey } from '../../apps/sandbox/src/processes/artifacts.ts';
import { createProgress } from '../../apps/sandbox/src/processes/progress.ts';
import { type Stack, startStack } from '../../apps/sandbox/src/stack/stack.ts';
import { fetchBusySeconds } from './agent/busy-seconds.ts';
import { createStamp } from './results.ts';
import { saveSection } from './results-store.ts';

const blockSeconds = 12;
const finalityBlocks = 65;

/** Runs the benchmark with the options of the command line. */
export async function runPayrollBench(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      recipients: { type: 'string', default: '1280' },
      ceiling: { type: 'string', default: '256' },
    },
  });
  const [recipients, ceiling] = [Number(values.recipients), Number(values.ceiling)];
  const progress = createProgress({ stream: process.stderr, plainLines: false });
  const size = chooseBatchSize(ceiling);
  if (size === undefined) throw new Error('no circuit holds so many recipients');
  await ensureProvingKey(`fund-${size}`, progress);
  const directory = mkdtempSync(join(tmpdir(), 'pool-bench-payroll-'));
  const startedAt = Date.now();
  const stack = await startStack({
    ...{ directory, finalityBlocks, holderCount: recipients, maxRecipients: ceiling },
    onStep: progress.step,
    // Faster until everybody is enrolled.
    blockSeconds: 0.1,
    hasProxy: true,
    agentEnvironment: { DISBURSE_ACCELERATOR: 'cpu' },
  });
  try {
    const enrolSeconds = (Date.now() - startedAt) / 1000;
    progress.step('paying');
    const { includedAt, document } = await pay(stack, progress);
    const parts = document.parts.length;
    const busySeconds = await fetchBusySeconds(stack);
    const format = (count: number): string => Math.round(count).toLocaleString('en');
    const perPart = recipients / parts;
    const seconds = ((includedAt.at(-1) ?? 0) - (includedAt[0] ?? 0)) / 1000;
    const perHour = (secondsOfPart: number): string => format((perPart * 3600) / secondsOfPart);
    saveSection('payroll', {
      title: 'One roster in parts',
      ...createStamp(),
      about: `${format(recipients)} payees in ${parts} parts, paid by \`disburse --split\` through one agent, on a chain with a block every ${blockSeconds} seconds and finality after ${finalityBlocks} blocks. Counted from the block of the first part to that of the last. Parts overlap, and each settles until it is final. All processes share the machine.`,
      tables: [
        {
          columns: ['what', 'payees an hour'],
          rows: [
            ['paid', perHour(seconds / (parts - 1))],
            [
              `if proofs were all (${(busySeconds / parts).toFixed(1)} s each)`,
              perHour(busySeconds / parts),
            ],
            [
              'if each part waited for the finality of the one before',
              perHour(blockSeconds * finalityBlocks),
            ],
          ],
        },
        {
          columns: ['stage', 'seconds of all parts'],
          rows: [
            ['starting, and enrolling everybody', enrolSeconds.toFixed(0)],
            ...sumStages(document).map(([stage, sum]) => [`\`${stage}\``, sum.toFixed(1)]),
          ],
        },
      ],
    });
  } finally {
    await stack.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

interface SplitDocument {
  readonly complete: boolean;
  readonly parts: readonly {
    readonly timings?: readonly { readonly stage: string; readonly seconds: number }[];
  }[];
}

/** @returns when each part was seen in a block, and what the command printed in the end */
async function pay(stack: Stack, progress: ReturnType<typeof createProgress>) {
  const provider = new JsonRpcProvider(stack.rpcUrl, undefined, { cacheTimeout: -1 });
  await provider.send('evm_setIntervalMining', [blockSeconds]);
  const pool = connectShieldedPool(stack.deployed.contracts.pool, provider);
  const roster = join(stack.directory, 'roster.csv');
  const lines = stack.holders.map(({ address }, index) => `${address},${1_000_000 + index}`);
  writeFileSync(roster, `address,amount\n${lines.join('\n')}\n`);
  const flags = ['--conditions=@pool/source', '--disable-warning=ExperimentalWarning'];
  const command = [
    'disburse',
    '--file',
    roster,
    '--pay-run',
    'bench',
    '--split',
    '--yes',
    '--json',
  ];
  const child = spawn(process.execPath, [...flags, agentScript, ...command], {
    env: { ...process.env, ...stack.agent.environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  let hasEnded = false;
  const ended = once(child, 'close').then(() => {
    hasEnded = true;
  });
  const includedAt: number[] = [];
  while (!hasEnded) {
    await Promise.race([sleep(500), ended]);
    const count = Number(await pool.batchCount());
    while (includedAt.length < count) includedAt.push(Date.now());
    progress.detail(`${count} parts in blocks`);
  }
  provider.destroy();
  // Printed by the agent's own command.
  const document = readData(text) as SplitDocument;
  if (!document.complete) throw new Error(`not everybody was paid: ${text}`);
  return { includedAt, document };
}

function sumStages({ parts }: SplitDocument): readonly (readonly [string, number])[] {
  const sums = new Map<string, number>();
  for (const { stage, seconds } of parts.flatMap(({ timings = [] }) => timings)) {
    sums.set(stage, (sums.get(stage) ?? 0) + seconds);
  }
  return [...sums];
}
