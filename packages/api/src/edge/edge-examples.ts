/**
 * Requests at the edge, and what it answers. Settlements and spends have no request: a proof is for machines.
 *
 * @module
 */
import { type RouteExample, refusal } from '../openapi/route.ts';

const address = '0x8EF31ED37e5320931Bf85677De447824a66c9991';
const encryptionPublicKey = '0x1c5d2e8f00112233445566778899aabbccddeeff00112233445566778899aa0b';
const walletId = `0x1a${'5e'.repeat(31)}`;
const eligibilityRoot = '0x2a4f0a8a2f6f1c8e4d2b0f9e7c5a3b1d0e8f6c4a2b9d7e5f3c1a0b8d6e4f2c0a';

const acceptedSpend = {
  key: 'rent-2026-11',
  state: 'accepted',
  chain: 'base',
  outRoot: '0x2134d5dbd6a1c9c2f0f8fa91ff1ac1e9a1a4a31e2ee7b2a1f6d8a9b2a0a4c0de',
  deadline: 1_795_258_800,
};
const settledSpend = {
  ...acceptedSpend,
  state: 'settled',
  txHash: '0x997eb126079e4b7fe5d23f1f5d5c6fb71d2bce61aed3dc2c16763f606b5e6dba',
  blockNumber: 24_817_331,
  gasUsed: '482113',
};

export const edgeExamples: Readonly<Record<string, RouteExample>> = {
  bootstrap: {
    body: {},
    answers: {
      200: {
        employerId: '5b1d1f0e-6f55-4d3a-9d53-6f1f2c1a7e01',
        employerAddress: '0xc65f18206Ed9d2f431867D05F8fF2734E87e75E0',
        chain: 'base',
        chains: {
          base: {
            chainId: 8453,
            pool: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
            registry: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
            tokens: { USDC: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0' },
          },
        },
        maxRecipients: { base: 64 },
        gate: { url: 'https://gate.example' },
      },
    },
  },
  lookupRecipients: {
    body: { chain: 'base', addresses: [address] },
    answers: { 200: { recipients: [{ address, readiness: 'not_enrolled' }] } },
  },
  findEligibilityPaths: {
    body: { chain: 'base', walletIds: [walletId], root: eligibilityRoot },
    answers: {
      200: { root: eligibilityRoot, paths: [], missing: [walletId] },
      409: refusal(
        'eligibility_root_too_old',
        'this root was replaced too long ago; ask for the root that registry.current() has at a final block now',
      ),
      503: refusal('gate_unreachable', 'the gate could not be reached'),
    },
  },
  postSettlement: { parameters: { 'idempotency-key': 'payroll-2026-11' } },
  getSettlement: {
    parameters: { key: 'payroll-2026-11' },
    answers: {
      404: refusal('settlement_not_found', 'there is no settlement of that key'),
    },
  },
  postVoid: {
    parameters: { key: 'payroll-2026-11' },
    body: {
      chain: 'base',
      funder: address,
      batchNonce: '0x0290c343c35a45ef2b40deb60f25fa7e3dec661a42d0fb4e4b5ad23c49468d23',
      signature: `0x${'5e'.repeat(64)}1b`,
    },
    answers: {
      404: refusal(
        'not_found',
        'there is no settlement of that key with this chain, funder and batch nonce',
      ),
    },
  },
  redeliverNotes: { parameters: { key: 'payroll-2026-11' } },
  getNotes: {
    parameters: { chain: 'base', token: 'USDC', cursor: '12.3.0' },
    answers: {
      200: {
        notes: [
          {
            commitment: '0x278aaeec52a92534b9904a097cbbacd4965e662911fd9833614e2b6326580731',
            sealed: `0x${encryptionPublicKey.slice(2)}${'5e'.repeat(177)}`,
            chain: 'base',
            token: 'USDC',
            batchIndex: 12,
            slot: 4,
            txHash: '0x997eb126079e4b7fe5d23f1f5d5c6fb71d2bce61aed3dc2c16763f606b5e6dba',
          },
        ],
      },
    },
  },
  postSpend: {
    parameters: { 'idempotency-key': 'rent-2026-11' },
    answers: { 200: settledSpend, 202: acceptedSpend },
  },
  getSpend: {
    parameters: { key: 'rent-2026-11' },
    answers: {
      200: settledSpend,
      202: acceptedSpend,
      404: refusal('spend_not_found', 'there is no spend of that key that this API key may see'),
    },
  },
  getBatches: {
    parameters: { chain: 'base', from: '12', pool: '0x5FbDB2315678afecb367f032d93F642f64180aa3' },
    answers: {
      200: {
        batches: [
          {
            index: 12,
            kind: 'spend',
            root: '0x2134d5dbd6a1c9c2f0f8fa91ff1ac1e9a1a4a31e2ee7b2a1f6d8a9b2a0a4c0de',
            noteRoot: '0x1a4f0a8a2f6f1c8e4d2b0f9e7c5a3b1d0e8f6c4a2b9d7e5f3c1a0b8d6e4f2c0a',
            commitments: Array.from({ length: 4 }, (_, slot) => `0x0${slot}${'5e'.repeat(31)}`),
            nullifiers: [`0x0a${'7d'.repeat(31)}`, `0x0b${'7d'.repeat(31)}`],
            sealedNotesHash: `0x${'c4'.repeat(32)}`,
            txHash: '0x997eb126079e4b7fe5d23f1f5d5c6fb71d2bce61aed3dc2c16763f606b5e6dba',
            blockNumber: 24_817_331,
          },
        ],
        next: 13,
      },
    },
  },
  findNotePaths: {
    body: { chain: 'base', notes: [{ batchIndex: 12, slot: 2 }] },
    answers: {
      200: {
        noteRoot: '0x1a4f0a8a2f6f1c8e4d2b0f9e7c5a3b1d0e8f6c4a2b9d7e5f3c1a0b8d6e4f2c0a',
        paths: [
          {
            batchIndex: 12,
            slot: 2,
            commitment: `0x02${'5e'.repeat(31)}`,
            index: 50,
            siblings: Array.from({ length: 6 }, (_, level) => `0x0${level}${'7d'.repeat(31)}`),
          },
        ],
      },
      403: refusal(
        'note_paths_disabled',
        'this platform makes no note paths; read /agent-edge/batches and make them yourself',
      ),
    },
  },
};
