/** Every wire schema: a good example is taken; an unknown, missing or mistyped field is not. Bootstrap ignores unknown fields. */

import * as core from '@pool/core';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import batches from '../../../vectors/fund-batch.json' with { type: 'json' };
import * as edge from './edge/edge.ts';
import * as settlements from './edge/settlements.ts';
import * as gate from './gate/gate.ts';
import * as accounts from './platform/accounts.ts';

const address = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const word = `0x${'0a'.repeat(32)}`;
const walletPub = `0x02${'0b'.repeat(32)}`;
const sealed = `0x01${'0c'.repeat(208)}`;
const signature = `0x${'0d'.repeat(64)}1b`;
const uuid = '5b3f0c1e-6a7d-4c2b-9e8f-0a1b2c3d4e5f';
const a16 = 'a'.repeat(16);
const time = '2026-11-01T09:00:00.000Z';
const path = {
  walletId: word,
  index: 4 ** 10 - 1,
  siblings: Array.from({ length: 10 }, () => [word, word, word]),
};
const batch = {
  funder: address,
  token: address,
  total: '5',
  batchNonce: word,
  eligibilityRoot: word,
  batchRoot: word,
  commitments: [word, word],
  sealedNotesHash: word,
  digest: word,
  deadline: 1_795_000_000,
};
const proof = {
  a: [word, word],
  b: [
    [word, word],
    [word, word],
  ],
  c: [word, word],
};
const evmChain = {
  family: 'evm',
  chainId: 31337,
  rpcUrl: 'http://127.0.0.1:8545',
  pool: address,
  registry: address,
  deployedAtBlock: 0,
  finality: { kind: 'finalized-tag' },
  maxRecipients: 64,
  tokens: { USDC: { address, decimals: 6 } },
};
const keyMetadata = {
  id: 1,
  keyPrefix: 'pool_live_abc',
  capability: 'disburse',
  name: 'n',
  createdAt: time,
};

/** Name, schema, a good value, and fields that may be left out. */
const schemas: [string, v.GenericSchema, Record<string, unknown>, string[]][] = [
  ['nonce', accounts.nonceResponseSchema, { nonce: a16, expiresAt: time, chainIds: [1] }, []],
  ['verify session', accounts.verifySessionRequestSchema, { message: 'm', signature }, []],
  [
    'verified session',
    accounts.verifySessionResponseSchema,
    { success: true, address, walletPub, expiresAt: time },
    ['walletPub'],
  ],
  ['register', accounts.registerRequestSchema, { name: 'n' }, ['name']],
  [
    'registered',
    accounts.registerResponseSchema,
    { success: true, created: true, employerId: uuid, address },
    [],
  ],
  ['onboard', accounts.onboardRequestSchema, { walletPub, encryptionPublicKey: word }, []],
  [
    'onboarded',
    accounts.onboardResponseSchema,
    {
      success: true,
      created: false,
      walletPub,
      encryptionPublicKey: word,
      readiness: 'ready',
      eligibilityWhitelistedAt: time,
    },
    ['eligibilityWhitelistedAt'],
  ],
  [
    'enrolment',
    accounts.enrollmentResponseSchema,
    {
      success: true,
      walletPub,
      encryptionPublicKey: word,
      readiness: 'ready',
      eligibilityWhitelistedAt: time,
    },
    ['walletPub', 'encryptionPublicKey', 'eligibilityWhitelistedAt'],
  ],
  ['mint key', accounts.mintKeyRequestSchema, { capability: 'disburse', name: 'n' }, []],
  [
    'minted key',
    accounts.mintKeyResponseSchema,
    { success: true, apiKey: 'k', ...keyMetadata },
    [],
  ],
  ['key metadata', accounts.keyMetadataSchema, { ...keyMetadata, revokedAt: time }, ['revokedAt']],
  ['keys', accounts.listKeysResponseSchema, { success: true, keys: [keyMetadata] }, []],
  ['verify key', accounts.verifyKeyRequestSchema, { apiKey: 'k' }, []],
  [
    'verified key',
    accounts.verifyKeyResponseSchema,
    { valid: true, capability: 'disburse', employerId: uuid, address, keyId: 1 },
    [],
  ],
  ['refused key', accounts.verifyKeyResponseSchema, { valid: false }, []],
  [
    'chains file',
    core.chainsFileSchema,
    { evidence: { domain: 'd', uri: 'https://d' }, chains: { anvil: evmChain } },
    [],
  ],
  ['chain', core.evmChainSettingsSchema, evmChain, []],
  [
    'token',
    core.tokenSettingsSchema,
    { address, decimals: 6, permitVersion: '1', permitName: 'n', zeroFirst: true },
    ['permitVersion', 'permitName', 'zeroFirst'],
  ],
  [
    'vended chain',
    core.vendedChainSchema,
    { chainId: 1, pool: address, registry: address, tokens: { USDC: address } },
    [],
  ],
  [
    'disburse request',
    core.disburseRequestSchema,
    {
      token: 'USDC',
      chain: 'anvil',
      recipients: [{ recipientAddress: address, amount: '1', memo: 'm' }],
      unregistered: 'skip',
    },
    ['chain', 'unregistered'],
  ],
  [
    'disbursement result',
    core.disbursementResultSchema,
    {
      status: 'completed',
      batches: [{ index: 0, txHash: word, recipientCount: 1, status: 'success' }],
      notes: [
        {
          requestIndex: 0,
          recipientAddress: address,
          commitment: word,
          amount: '1',
          status: 'success',
        },
      ],
      skipped: [{ requestIndex: 1, recipientAddress: address, code: 'c', message: 'm' }],
      allowance: { state: 'sufficient' },
      failedBatchIndex: 0,
    },
    ['failedBatchIndex'],
  ],
  [
    'disbursement job under way',
    core.disbursementJobSchema,
    { key: 'k', state: 'submitted', stage: 'proving' },
    ['stage'],
  ],
  [
    'disbursement job',
    core.disbursementJobSchema,
    { key: 'k', state: 'failed', statusUrl: '/x', error: { code: 'c', message: 'm' } },
    ['statusUrl'],
  ],
  [
    'bootstrap',
    edge.bootstrapResponseSchema,
    {
      employerId: uuid,
      employerAddress: address,
      chain: 'anvil',
      chains: { anvil: { chainId: 1, pool: address, registry: address, tokens: {} } },
      maxRecipients: { anvil: 64 },
      gate: {
        url: 'https://gate',
        oauth: { tokenUrl: 'https://gate/t', clientId: 'c', clientSecret: 's', scope: 'x' },
      },
      relayer: { anvil: { ok: true }, base: { ok: false, code: 'insufficient_gas' } },
    },
    ['gate', 'relayer'],
  ],
  ['lookup', edge.recipientLookupRequestSchema, { chain: 'anvil', addresses: [address] }, []],
  [
    'recipient',
    edge.recipientRecordSchema,
    {
      address,
      readiness: 'ready',
      walletPub,
      encryptionPublicKey: word,
      evidence: { message: 'm', signature },
    },
    ['walletPub', 'encryptionPublicKey', 'evidence'],
  ],
  ['looked up', edge.recipientLookupResponseSchema, { recipients: [] }, []],
  ['proof', settlements.groth16ProofSchema, proof, []],
  ['batch', settlements.fundBatchSchema, batch, []],
  ['permit', settlements.permitSchema, { value: '1', deadline: 1, v: 27, r: word, s: word }, []],
  [
    'settlement',
    settlements.settlementRequestSchema,
    {
      chain: 'anvil',
      batch,
      proof,
      funderSignature: signature,
      permit: { value: '1', deadline: 1, v: 28, r: word, s: word },
      sealedNotes: [{ encryptionPublicKey: word, sealed }],
    },
    ['permit'],
  ],
  [
    'settlement record',
    settlements.settlementRecordSchema,
    {
      key: 'k',
      state: 'settled',
      chain: 'anvil',
      batch,
      sealedNotes: [],
      txHash: word,
      blockNumber: 1,
      gasUsed: '1',
      error: { code: 'c', message: 'm' },
    },
    ['txHash', 'blockNumber', 'gasUsed', 'error'],
  ],
  [
    'notes',
    edge.notesResponseSchema,
    {
      notes: [
        {
          commitment: word,
          sealed,
          chain: 'anvil',
          token: 'USDC',
          batchIndex: 0,
          slot: 1,
          txHash: word,
        },
      ],
      cursor: 'c',
    },
    ['cursor'],
  ],
  ['paths request', gate.gatePathsRequestSchema, { walletIds: [word], root: word }, ['root']],
  ['path', core.eligibilityPathSchema, path, []],
  ['paths', gate.gatePathsResponseSchema, { root: word, paths: [path], missing: [word] }, []],
  ['gate wallet request', gate.gateWalletRequestSchema, { walletPub }, []],
  [
    'gate wallet',
    gate.gateWalletResponseSchema,
    { walletId: word, status: 'whitelisted', root: word, whitelistedAt: time },
    ['whitelistedAt'],
  ],
  ['gate root', gate.gateRootResponseSchema, { root: word, wallets: 0, txHash: word }, ['txHash']],
  ['manifest', core.fundManifestSchema, batches.batches[0]?.manifest as never, []],
];

// A newer platform may say more at bootstrap than this agent knows.
const openSchemas: readonly string[] = ['vended chain', 'bootstrap'];

it('ignores fields of bootstrap that it does not know, at every level', () => {
  const chain = { chainId: 1, pool: address, registry: address, tokens: {} };
  const oauth = { tokenUrl: 'https://gate/t', clientId: 'c', clientSecret: 's', scope: 'x' };
  const known = {
    employerId: uuid,
    employerAddress: address,
    chain: 'anvil',
    chains: { anvil: chain },
    maxRecipients: { anvil: 64 },
    gate: { url: 'https://gate', oauth },
    relayer: { anvil: { ok: true } },
  };
  const newer = {
    ...known,
    notice: 'x',
    chains: { anvil: { ...chain, notice: 'x' } },
    gate: { ...known.gate, notice: 'x', oauth: { ...oauth, notice: 'x' } },
    relayer: { anvil: { ok: true, notice: 'x' } },
  };
  expect(v.parse(edge.bootstrapResponseSchema, newer)).toEqual(known);
});

describe.each(schemas)('%s', (name, schema, good, optional) => {
  it('takes a good value [result.failed-batch-index]', () => {
    expect(v.is(schema, good)).toBe(true);
  });

  it.each(Object.keys(good))(
    'without %s: only where it may be left out [enrol.body, key.name, request.fields]',
    (name) => {
      const rest = Object.fromEntries(Object.entries(good).filter(([key]) => key !== name));
      expect(v.is(schema, rest)).toBe(optional.includes(name));
    },
  );

  it.each(Object.keys(good))('refuses a %s of another type', (name) => {
    for (const value of [Symbol('s'), () => 1, null]) {
      expect(v.is(schema, { ...good, [name]: value })).toBe(false);
    }
  });

  it('refuses an unknown field, and a value that is not an object [key.response, request.fields]', () => {
    expect(v.is(schema, { ...good, unknownField: 1 })).toBe(openSchemas.includes(name));
    for (const value of [null, undefined, 'x', 5, ['x']]) {
      expect(v.is(schema, value)).toBe(false);
    }
  });
});

const request = { token: 'USDC', recipients: [{ recipientAddress: address, amount: '1' }] };
function recipients(length: number) {
  return Array.from({ length }, () => request.recipients[0]);
}
function withMemo(memo: string) {
  return {
    ...request,
    recipients: [{ ...request.recipients[0], memo }],
  };
}

describe('limits', () => {
  it.each<[string, v.GenericSchema, unknown]>([
    [
      '10,000 recipients',
      core.disburseRequestSchema,
      { ...request, recipients: recipients(10_000) },
    ],
    ['a memo of 111 bytes', core.disburseRequestSchema, withMemo('é'.repeat(55) + 'x')],
    [
      'an amount that is no number',
      core.disburseRequestSchema,
      { ...request, recipients: [{ recipientAddress: 'x', amount: 'much' }] },
    ],
    ['an empty bootstrap request', edge.bootstrapRequestSchema, {}],
    ['a finality depth', core.finalityRuleSchema, { kind: 'depth', blocks: 12 }],
    [
      'an ERC-1271 signature',
      settlements.settlementRequestSchema.entries.funderSignature,
      `0x${'00'.repeat(1024)}`,
    ],
  ])('take %s', (_, schema, value) => {
    expect(v.is(schema, value)).toBe(true);
  });

  it.each<[string, v.GenericSchema, unknown]>([
    ['no recipients', core.disburseRequestSchema, { ...request, recipients: [] }],
    ['a memo of 112 bytes', core.disburseRequestSchema, withMemo('é'.repeat(56))],
    ['another policy', core.disburseRequestSchema, { ...request, unregistered: 'ignore' }],
    [
      'a numeric amount',
      core.disburseRequestSchema,
      { ...request, recipients: [{ recipientAddress: address, amount: 1 }] },
    ],
    ['an unknown capability', accounts.mintKeyRequestSchema, { capability: 'admin', name: 'n' }],
    [
      'a false success',
      accounts.registerResponseSchema,
      { success: false, created: true, employerId: uuid, address },
    ],
    ['nine levels', core.eligibilityPathSchema, { ...path, siblings: path.siblings.slice(1) }],
    ['an index of 4^10', core.eligibilityPathSchema, { ...path, index: 4 ** 10 }],
    [
      'two siblings',
      core.eligibilityPathSchema,
      { ...path, siblings: path.siblings.map(() => [word, word]) },
    ],
    [
      '208 bytes sealed',
      settlements.settlementRequestSchema.entries.sealedNotes,
      [{ encryptionPublicKey: word, sealed: sealed.slice(0, -2) }],
    ],
    [
      '257 commitments',
      settlements.fundBatchSchema,
      { ...batch, commitments: Array.from({ length: 257 }, () => word) },
    ],
    ['a total of 0', settlements.fundBatchSchema, { ...batch, total: '0' }],
    ['a finality depth of 0', core.finalityRuleSchema, { kind: 'depth', blocks: 0 }],
    ['another finality', core.finalityRuleSchema, { kind: 'latest' }],
    ['another family', core.evmChainSettingsSchema, { ...evmChain, family: 'solana' }],
    ['257 recipients a batch', core.evmChainSettingsSchema, { ...evmChain, maxRecipients: 257 }],
  ])(
    'refuse %s [key.capabilities, request.recipients, request.unregistered-values]',
    (_, schema, value) => {
      expect(v.is(schema, value)).toBe(false);
    },
  );
});
