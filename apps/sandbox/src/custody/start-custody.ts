/**
 * Starts the custody of keys: each kind starts the processes that it needs, and answers with the variables of the agents that use it.
 *
 * @module
 */
import { startCustodianA } from './custodian-a.ts';
import { startCustodianB } from './custodian-b.ts';
import type { Custody, CustodyKind, CustodyPlace } from './custody-place.ts';
import { startEnclaves } from './enclave.ts';

/** Starts the custodian, its gate or the enclaves, and resolves when they answer. */
export function startCustody(kind: CustodyKind, place: CustodyPlace): Promise<Custody> {
  switch (kind) {
    case 'custodian_a':
      return startCustodianA(place);
    case 'custodian_b':
      return startCustodianB(place);
    case 'enclave':
      return startEnclaves(place);
  }
}
