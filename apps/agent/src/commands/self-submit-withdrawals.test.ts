// `send --self-submit` with a fake submission behind it: its questions about a repetition, and one failure among several withdrawals.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  bigintToHex32,
  chainFamilies,
  PoolError,
  parseEvmAddress,
  Secret,
  type SpendManifest,
  type SpendReceipt,
} from '@pool/core';
import type { Output } from '@pool/pay-run';
import { createLocalKeyHolder } from '@pool/signers';
import { createFakeHolder, textOf } from '@pool/testkit';
import type { ArchivedSpend, SpendState } from '@pool/wallet';
import type { Holder, SelfSubmission } from '@pool/wallet/node';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HolderChain } from '../../../../packages/wallet/src/holder/holder.ts';
import vectors from '../../../../vectors/spend.json' with { type: 'json' };
import { parseConfig } from '../config/config.ts';
import { createConfigSource, goodEnvironment } from '../fixtures/config-world.ts';
import { createSelfSubmitView } from '../terminal/self-submit-view.ts';
import { performWithdrawals, type SelfSubmitOptions } from './self-submit-withdrawals.ts';

const anna = createFakeHolder(1);
const [vector] = vectors.spends;
const token = parseEvmAddress('0xe7f1725e7734ce288f8367e1bb143e90bb3f0512');
const vault = parseEvmAddress('0x70997970c51812dc3a010c7d01b50e0d17dc79c8');
const chain: HolderChain = {
  key: 'anvil',
  settings: {
    family: 'evm',
    chainId: 31337,
    rpcUrl: 'http://127.0.0.1:9',
    pool: parseEvmAddress('0x5fbdb2315678afecb367f032d93f642f64180aa3'),
    registry: parseEvmAddress('0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0'),
    deployedAtBlock: 5,
    finality: { kind: 'depth', blocks: 1 },
    maxRecipients: 3,
    tokens: { USDC: { address: token, decimals: 6 } },
  },
};
const holder: Holder = {
  signer: createLocalKeyHolder({ privateKey: new Secret(anna.wallet.privateKey) }),
  family: chainFamilies.evm,
  walletPub: anna.walletPub,
  address: anna.address,
  viewingKey: new Secret(anna.viewingKey),
  encryptionPublicKey: anna.encryptionPublicKey,
  earlier: [],
};
const settled: SpendState = { kind: 'settled', txHash: bigintToHex32(9n), blockNumber: 5 };
const released: SpendState = {
  kind: 'released',
  signature: { rSig: bigintToHex32(5n), s: bigintToHex32(6n), parity: 1 },
};

function createSpend(withdrawAmount: string, state: SpendState): ArchivedSpend {
  return {
    version: 1,
    operation: 'send',
    chain: 'anvil',
    chainId: 31337,
    pool: chain.settings.pool,
    outRoot: bigintToHex32(BigInt(withdrawAmount)),
    inputNullifiers: [],
    deadline: 1_800_000_000,
    changeAmount: '0',
    createdAtMs: Date.parse('2026-11-23T12:00:00Z'),
    secrets: {
      manifest: {
        ...Reflect.apply((base: SpendManifest) => base, undefined, [vector?.manifest]),
        ...{ token, withdrawAmount, recipient: vault },
      },
      seed: bigintToHex32(1n),
    },
    state,
  };
}

type World = {
  readonly open?: readonly ArchivedSpend[];
  readonly paid?: readonly ArchivedSpend[];
  /** What the chain is found to have decided. */
  readonly decided?: readonly ArchivedSpend[];
  /** For which the chain does not answer. */
  readonly unread?: readonly ArchivedSpend[];
  /** By amount. */
  readonly failures?: Readonly<Record<string, Error>>;
  /** Answers of the user. Undefined: nobody is there. */
  readonly answers?: readonly string[];
  readonly isInterrupted?: boolean;
  /** A withdrawal ends when this many have begun. */
  readonly together?: number;
};

async function perform(
  options: SelfSubmitOptions,
  { open = [], paid = [], decided = [], unread = [], ...world }: World = {},
) {
  const { failures = {}, answers, isInterrupted = false, together = 1 } = world;
  const begun = Promise.withResolvers<void>();
  const home = mkdtempSync(join(tmpdir(), 'pool-self-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const evidence = { domain: 'pool.test', uri: 'https://pool.test' };
  const chainsFile = join(home, 'chains.json');
  writeFileSync(chainsFile, JSON.stringify({ evidence, chains: { anvil: chain.settings } }));
  const config = parseConfig(
    createConfigSource({ ...goodEnvironment, DISBURSE_SEND_DESTINATIONS: `vault=${vault}` }),
    { values: {} },
  );
  const sent: Parameters<SelfSubmission['withdraw']>[] = [];
  const receipt: SpendReceipt = {
    operation: 'send',
    status: 'success',
    txHash: bigintToHex32(1n),
    nullifiers: [],
    changeAmount: '0',
  };
  const submission: SelfSubmission = {
    submitter: {
      address: parseEvmAddress('0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc'),
      quote: async () => ({ from: vault, balanceWei: 1n, expectedWei: 1n, capWei: 1n }),
    },
    follow: async () => ({
      decided: decided.map((spend) => ({ spend, wasSent: true })),
      unread: new Set(unread.map(({ outRoot }) => outRoot)),
    }),
    listOpen: async () => open,
    listPaid: async () => paid,
    async withdraw(...asked) {
      sent.push(asked);
      if (sent.length >= together) {
        begun.resolve();
      }
      await begun.promise;
      const failure = failures[asked[0].amount];
      if (failure !== undefined) {
        throw failure;
      }
      return receipt;
    },
    close: async () => undefined,
  };
  const left = [...(answers ?? [])];
  const questions: string[] = [];
  let shown = '';
  let printed = '';
  const output: Output = {
    out: (outcome) => {
      printed += textOf(outcome);
    },
    terminal: {
      isTty: false,
      write: (text) => {
        shown += text;
      },
    },
    ...(answers === undefined
      ? {}
      : {
          ask: async (question) => {
            questions.push(question);
            return left.shift();
          },
        }),
  };
  const signal = isInterrupted ? AbortSignal.abort() : new AbortController().signal;
  const outcome = await performWithdrawals(
    { token: 'USDC', ...options },
    {
      ...{ submission, holder, chain, signal },
      settings: {
        ...config,
        chainsFile,
        ...{ gasPrivateKey: undefined, gasCapWei: 1n },
      },
    },
    output,
  ).then(
    (code) => ({ code, error: undefined }),
    (error: unknown) => ({ code: undefined, error }),
  );
  return { ...outcome, sent, shown, printed, questions };
}

describe('a withdrawal that was paid in the last 24 hours', () => {
  const paid = [createSpend('12', settled)];
  const request = { amount: '12', to: 'vault' };

  it.each([[{}], [{ yes: true }]])(
    'is named and not repeated in a script with %j',
    async (flags) => {
      const { error, shown, sent } = await perform({ ...request, ...flags }, { paid });
      expect(error).toMatchObject({
        code: 'equal_withdrawal',
        message: expect.stringMatching(/--again/),
      });
      expect(shown).toContain(
        `of 0.000012 USDC began at 2026-11-23T12:00:00.000Z and was paid by transaction ${bigintToHex32(9n)}`,
      );
      expect(sent).toEqual([]);
    },
  );

  it('is repeated with --again, and the submission is told which one is known', async () => {
    const { code, shown, sent } = await perform({ ...request, again: true }, { paid });
    expect(code).toBe(0);
    expect(shown).toContain('was paid by transaction');
    expect(sent.map(([{ accepted }]) => [...(accepted ?? [])])).toEqual([[bigintToHex32(12n)]]);
  });

  it('is asked for on a terminal, also with --yes', async () => {
    const declined = await perform({ ...request, yes: true }, { paid, answers: ['no'] });
    expect(declined.error).toMatchObject({ code: 'payment_declined' });
    expect(declined.sent).toEqual([]);
    const accepted = await perform(request, { paid, answers: ['y', 'y'] });
    expect([accepted.code, accepted.sent.length]).toEqual([0, 1]);
    expect(accepted.questions).toEqual([
      expect.stringMatching(/a second time\?/),
      expect.stringMatching(/^Send this\?/),
    ]);
  });

  it('is named by a dry run, which asks nothing', async () => {
    const { code, shown } = await perform({ ...request, dryRun: true }, { paid });
    expect([code, shown]).toEqual([0, expect.stringContaining('was paid by transaction')]);
  });
});

describe('a withdrawal of a process that was killed', () => {
  const request = { amount: '12', to: 'vault', yes: true };
  const paid = createSpend('12', settled);

  it('is named and not repeated if the chain has paid it, however long ago', async () => {
    const { error, shown, sent } = await perform(request, { decided: [paid], paid: [paid] });
    expect(error).toMatchObject({ code: 'equal_withdrawal' });
    expect(shown).toContain(
      `0.000012 USDC to vault, begun at 2026-11-23T12:00:00.000Z: it was paid by transaction ${bigintToHex32(9n)}`,
    );
    expect(sent).toEqual([]);
  });

  it('is begun again if the chain did not take it', async () => {
    const decided = [createSpend('12', { kind: 'expired' })];
    const { code, shown, sent } = await perform(request, { decided });
    expect([code, sent.map(([, spend]) => spend)]).toEqual([0, [undefined]]);
    expect(shown).toContain('it ended without a payment (expired), and its notes are free');
  });

  it('has its receipt printed without an amount', async () => {
    const { code, shown, sent, printed } = await perform({}, { decided: [paid] });
    expect([code, sent.map(([, spend]) => spend?.outRoot)]).toEqual([0, [paid.outRoot]]);
    expect(printed).toContain('"status": "success"');
    expect(shown).not.toContain('continuing');
  });

  it('is not continued while the chain does not say whether it was paid', async () => {
    const open = [createSpend('12', released)];
    const { error, sent } = await perform(request, { open, unread: open });
    expect(error).toMatchObject({ code: 'chain_unreachable', retryable: true });
    expect(sent).toEqual([]);
  });

  it('and an equal one, both not sent, end when a block after their deadline is final', async () => {
    const open = [createSpend('12', { kind: 'archived' }), createSpend('12', { kind: 'archived' })];
    const { error } = await perform(request, { open });
    expect(error).toMatchObject({
      message: expect.stringMatching(/run the same command again when a block after 2027-01-15T/),
    });
  });
});

describe('several open withdrawals', () => {
  const open = ['7', '8', '9'].map((amount) => createSpend(amount, released));

  it('are all continued if one fails, which is listed at the end', async () => {
    const failures = { 7: new PoolError('settlement_expired', 'it expired') };
    const { code, sent, shown, printed } = await perform({}, { open, failures });
    expect(sent.map(([{ amount }, spend]) => [amount, spend?.outRoot])).toEqual(
      open.map(({ secrets, outRoot }) => [secrets?.manifest.withdrawAmount, outRoot]),
    );
    expect(printed.match(/"status"/g)).toHaveLength(2);
    expect(shown).toMatch(
      /1 of 3 withdrawals failed:\n {2}0\.000007 USDC to vault, begun at 2026-11-23T12:00:00.000Z: settlement_expired: it expired; to begin it again: disburse-agent send --self-submit .* --amount 0\.000007USDC --to vault\n$/,
    );
    expect(code).not.toBe(0);
  });

  it('end with 8 if the outcome of one is not known, and quote no unknown error', async () => {
    const failures = {
      7: new Error('canary'),
      9: new PoolError('spend_unfinished', 'it can still land'),
    };
    const { code, shown } = await perform({}, { open, failures });
    expect(code).toBe(8);
    expect(shown).toContain('2 of 3 withdrawals failed');
    expect(shown).not.toContain('canary');
  });

  it('are submitted at once: none waits until another one is final', async () => {
    const { code, sent, printed } = await perform({}, { open, together: 3 });
    expect([code, sent.length, printed.match(/"status"/g)?.length]).toEqual([0, 3, 3]);
  });

  it('end with the first error after the user has ended the command, and receipts are printed', async () => {
    const failures = { 8: new PoolError('spend_unfinished', 'it can still land') };
    const { error, printed } = await perform({}, { open, failures, isInterrupted: true });
    expect(error).toMatchObject({ code: 'spend_unfinished' });
    expect(printed.match(/"status"/g)).toHaveLength(2);
  });

  it('one alone fails with its own error', async () => {
    const failures = { 7: new PoolError('settlement_expired', 'it expired') };
    const { error } = await perform({}, { open: open.slice(0, 1), failures });
    expect(error).toMatchObject({ code: 'settlement_expired' });
  });
});

describe('a failure is explained for this command', () => {
  const request = { amount: '12', to: 'vault', yes: true };
  const command = 'disburse-agent send --self-submit --chain anvil --token USDC';

  it.each([
    ['settlement_expired', 'it expired; send it again under a new Idempotency-Key', '0.000012'],
    [
      'note_already_spent',
      'a note is spent; send it again under a new Idempotency-Key',
      '0.000012',
    ],
    [
      'consolidation_required',
      'at most 9 with the notes; merge them with "consolidate"',
      '0.000009',
    ],
  ] as const)('%s names the next command', async (code, message, amount) => {
    const details = { spendable: '20', largestSpend: '9' };
    const failures = { 12: new PoolError(code, message, { details }) };
    const { error } = await perform(request, { failures });
    expect(error).toMatchObject({ code, details });
    expect(error).toMatchObject({
      message: expect.stringMatching(new RegExp(`^${message.split(';')[0]};`)),
    });
    expect(String(error)).toContain(`${command} --amount ${amount}USDC --to vault`);
    expect(String(error)).not.toMatch(/Idempotency-Key|consolidate/);
  });

  it('notes that an open withdrawal holds are named if the others are too few', async () => {
    const failures = { 12: new PoolError('insufficient_funds', 'the free notes hold 3') };
    const { error } = await perform(request, { failures, open: [createSpend('7', released)] });
    expect(error).toMatchObject({
      code: 'insufficient_funds',
      message: expect.stringMatching(
        /hold 3\nopen withdrawals hold notes: 0\.000007 USDC \(7 base units\), begun at 2026-11-23T12:00:00.000Z, until 2027-01-15T08:00:00.000Z/,
      ),
    });
  });
});

it('a refusal is shown with its message and its fields', () => {
  let shown = '';
  const view = createSelfSubmitView({
    isTty: false,
    write: (text) => {
      shown += text;
    },
  });
  const event = {
    kind: 'refused',
    code: 'gas_key_unfunded',
    message: '0x01 needs 5 wei more',
  } as const;
  view.show(event);
  view.show({ ...event, details: { missingWei: '5', tries: 2 } });
  expect(shown.split('\n')).toEqual([
    'refused: gas_key_unfunded: 0x01 needs 5 wei more; it is tried again until its deadline',
    'refused: gas_key_unfunded: 0x01 needs 5 wei more (missingWei: 5, tries: 2); it is tried again until its deadline',
    '',
  ]);
});
