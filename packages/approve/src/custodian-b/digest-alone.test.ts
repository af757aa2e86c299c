// A callback that carries a digest alone: it is judged as the document that a stored manifest gives for exactly this digest.
import { chainsFileSchema, parseWire } from '@pool/core';
import { openLedger, parsePolicy } from '@pool/policy';
import { expect, it } from 'vitest';
import { createFakeChain } from '../fixtures/fake-chain.ts';
import { chainId, chainsJson, fundFile, policyJson, recipient } from '../fixtures/payroll.ts';
import { createFactSource } from '../gate/facts.ts';
import { createIntake } from '../gate/intake.ts';
import { createJudge } from '../gate/judge.ts';
import { createRebuilds } from '../gate/rebuilds.ts';
import { createCallbackHandler } from './callback-handler.ts';

const signerId = 'signer-1';

function openGate() {
  const policy = parsePolicy(policyJson({ funderWallet: '7', initiator: signerId }));
  const ledger = openLedger({ path: ':memory:', role: 'voter' });
  const chain = createFakeChain();
  const facts = createFactSource(
    parseWire(chainsFileSchema, chainsJson, 'chains'),
    async () => chain.reader,
  );
  const rebuilds = createRebuilds({
    readFile: (digest) => ledger.readFile(digest),
    evidence: () => policy.evidence,
  });
  const common = {
    ledger,
    policy: () => policy,
    rebuilds,
    facts,
    mayVote: () => true,
    nowMs: Date.now,
  };
  const handler = createCallbackHandler({
    reader: { get: async () => undefined },
    judge: createJudge({ ...common, isDryRun: false }),
    ledger,
    signerId,
    findChainId: () => chainId,
    mayVote: () => true,
    isDryRun: false,
    nowMs: Date.now,
    log: { info() {}, warn() {}, error() {}, debug() {} },
    fault: () => undefined,
    onAnswer: () => undefined,
  });
  return {
    ledger,
    intake: createIntake(common),
    ask: (requestId: string, payload: string) =>
      handler.answer({
        requestId,
        operation: 'TYPED_MESSAGE',
        sourceId: '7',
        signerId,
        rawTx: [{ payload }],
      }),
  };
}

it.each([
  ['deadline', (file: ReturnType<typeof fundFile>) => ({ ...file, deadline: file.deadline + 1 })],
  ['seed', (file: ReturnType<typeof fundFile>) => ({ ...file, seed: `0x${'77'.repeat(32)}` })],
])(
  'a second manifest with another %s does not turn an authorisation into a withdrawal',
  async (_what, change) => {
    const gate = openGate();
    // Not on the list, and above every limit.
    const file = fundFile({ recipients: [recipient(9, '999999')] });
    const { manifestDigest } = await gate.intake.post(file);
    const digest = gate.ledger.listManifests()[0]?.digest ?? '';
    expect(await gate.ask('before', digest)).toMatchObject({ action: 'REJECT' });
    await expect(gate.intake.post(change(file))).rejects.toMatchObject({
      code: 'manifest_conflict',
    });
    expect(await gate.ask('after', digest)).toMatchObject({ action: 'REJECT' });
    const votes = gate.ledger.listVotes(manifestDigest);
    expect(votes.filter(({ value }) => value === 'approve')).toEqual([]);
  },
);
