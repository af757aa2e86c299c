/**
 * Starts the custody of keys: each kind starts the processes that it needs, and answers with the variables of the agents that use it.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { FunderKind } from '@pool/signers';
import { startCustodianA } from './custodian-a.ts';
import { startCustodianB } from './custodian-b.ts';
import type { Custody, CustodyPlace, SignerKind } from './custody-place.ts';
import { startEnclaves } from './enclave.ts';

/** By signer. One without a simulator is not offered. */
const starters: Readonly<Partial<Record<FunderKind, (place: CustodyPlace) => Promise<Custody>>>> = {
  enclave: startEnclaves,
  custodian_a: startCustodianA,
  custodian_b: startCustodianB,
};

export const signerKinds = ['local-key', ...Object.keys(starters)] as readonly SignerKind[];

/** Starts the custodian, its gate or the enclaves, and resolves when they answer. */
export async function startCustody(kind: FunderKind, place: CustodyPlace): Promise<Custody> {
  const start = starters[kind];
  if (start === undefined) {
    throw new PoolError('internal_error', `the sandbox has no simulator of ${kind}`);
  }
  return await start(place);
}
