// The signing guard against vectors/signing-guard.json: ids, and sequences of requests and merges over several ledgers.
import { readFileSync } from 'node:fs';
import {
  assertField,
  type EvmAddress,
  type Hex32,
  hexToBigint,
  parseEvmAddress,
  parseHex32,
} from '@pool/core';
import { describe, expect, it } from 'vitest';
import { checkSignedOnce } from '../decide/decide-spend.ts';
import {
  chainId,
  custodian,
  funder,
  holder,
  makeBatch,
  makeSpend,
  nowMs,
} from '../fixtures/batches.ts';
import { createTestLedger } from '../fixtures/ledgers.ts';
import {
  approvalRequest,
  permitRequest,
  signInRequest,
  spendRequest,
} from '../fixtures/requests.ts';
import type { Ledger } from '../ledger/open-ledger.ts';
import { createSignRequest } from '../requests/request-digest.ts';
import type { SignRequest } from '../requests/requests.ts';
import { checkGuard, createRecord } from '../rules/check-guard.ts';
import { conclude } from '../rules/findings.ts';
import { computeGuardId } from './guard-id.ts';
import type { LedgerHistory } from './ledger-history.ts';

type RequestVector = {
  readonly name: string;
  readonly id: string;
  readonly kind: SignRequest['kind'];
  readonly pool: string;
  readonly token: string;
  readonly total: string;
  readonly batchRoot: Hex32;
  readonly batchNonce: Hex32;
  readonly sealedNotesHash: Hex32;
  readonly deadline: number | string;
  readonly value: string;
  readonly nonce: string;
  readonly accountNonce: number;
  readonly maxFeePerGas: string;
  readonly manifestDigest: Hex32;
  readonly salt: number;
  readonly statement: string;
};
type Step =
  | { readonly ledger: string; readonly ask: string; readonly expect: string }
  | { readonly export: string; readonly as: string }
  | { readonly import: string; readonly into: string };
type Vectors = {
  readonly signers: { readonly funder: string; readonly holder: string };
  readonly requests: readonly RequestVector[];
  readonly sequences: readonly { readonly name: string; readonly steps: readonly Step[] }[];
};

const vectors = JSON.parse(
  readFileSync(new URL('../../../../vectors/signing-guard.json', import.meta.url), 'utf8'),
) as Vectors;

function readRequest(one: RequestVector): SignRequest {
  const pool = parseEvmAddress(one.pool ?? makeBatch().pool);
  const token: EvmAddress = parseEvmAddress(one.token ?? makeBatch().token);
  switch (one.kind) {
    case 'fund-authorization':
      return createSignRequest({
        kind: one.kind,
        expectedSigner: funder,
        payload: {
          chainId,
          pool,
          authorization: {
            funder,
            token,
            total: BigInt(one.total),
            batchRoot: fieldOf(one.batchRoot),
            batchNonce: fieldOf(one.batchNonce),
            sealedNotesHash: one.sealedNotesHash,
            deadline: BigInt(one.deadline),
          },
        },
      });
    case 'void': {
      const payload = { chainId, pool, funder, batchNonce: fieldOf(one.batchNonce) };
      return createSignRequest({ kind: one.kind, expectedSigner: funder, payload });
    }
    case 'permit':
      return permitRequest(makeBatch(), {
        value: BigInt(one.value),
        nonce: BigInt(one.nonce),
        deadline: BigInt(one.deadline),
      });
    case 'token-approval':
      return approvalRequest(makeBatch(), {
        to: token,
        value: BigInt(one.value),
        nonce: one.accountNonce,
        maxFeePerGas: BigInt(one.maxFeePerGas),
      });
    case 'spend':
      return spendRequest(makeSpend({ salt: one.salt }));
    default:
      return signInRequest({ statement: one.statement, nonce: one.nonce });
  }
}

function fieldOf(word: Hex32) {
  return assertField(hexToBigint(word));
}

function contextOf(one: RequestVector) {
  return {
    batchNonce: one.batchNonce === undefined ? undefined : fieldOf(one.batchNonce),
    manifestDigest: one.manifestDigest === undefined ? undefined : parseHex32(one.manifestDigest),
  };
}

let asked = 0;

/** Asks the guard alone, in the transaction of a vote. */
function askGuard(ledger: Ledger, one: RequestVector): string {
  const request = readRequest(one);
  asked += 1;
  const voted = ledger.decide({ requestId: `guard-${asked}`, request, nowMs }, (view) => {
    const input = {
      request,
      ledger: view,
      origin: custodian,
      nowMs,
      signer: { deterministic: false },
    };
    const { batchNonce, manifestDigest } = contextOf(one);
    const guarded = checkGuard(input, {
      ...(batchNonce === undefined ? {} : { batchNonce }),
      ...(manifestDigest === undefined ? {} : { manifestDigest }),
    });
    const once =
      request.kind === 'spend'
        ? [checkSignedOnce(input, makeSpend({ salt: one.salt }).digest, guarded)]
        : [];
    return conclude([guarded.finding, ...once], createRecord(guarded, undefined));
  });
  return voted.kind === 'vote' ? (voted.vote.reason ?? voted.vote.value) : voted.kind;
}

describe('the ids of the signing guard', () => {
  it.each(vectors.requests.map((one) => [one.name, one] as const))('%s', (_name, one) => {
    expect([vectors.signers.funder, vectors.signers.holder]).toEqual([funder, holder]);
    expect(computeGuardId(readRequest(one), contextOf(one))).toBe(one.id);
  });
});

describe('the signing guard', () => {
  it.each(vectors.sequences.map(({ name, steps }) => [name, steps] as const))(
    '%s',
    (_name, steps) => {
      const ledgers = new Map<string, Ledger>();
      const histories = new Map<string, LedgerHistory>();
      const ledgerOf = (name: string): Ledger => {
        const ledger = ledgers.get(name) ?? createTestLedger();
        ledgers.set(name, ledger);
        return ledger;
      };
      for (const [index, step] of steps.entries()) {
        if ('ask' in step) {
          const request = vectors.requests.find(({ name }) => name === step.ask);
          if (request === undefined) {
            throw new TypeError(`the vectors have no request ${step.ask}`);
          }
          expect([index, askGuard(ledgerOf(step.ledger), request)]).toEqual([index, step.expect]);
        } else if ('export' in step) {
          histories.set(step.as, ledgerOf(step.export).exportHistory());
        } else {
          const history = histories.get(step.import);
          if (history === undefined) {
            throw new TypeError(`the vectors have no history ${step.import}`);
          }
          ledgerOf(step.into).importHistory(history, nowMs);
        }
      }
      expect(steps.length).toBeGreaterThan(0);
    },
  );
});
