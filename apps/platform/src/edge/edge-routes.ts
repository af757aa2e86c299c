/**
 * `/agent-edge/…` (ARCHITECTURE.md): the routes for agents, with an edge token bound to one employer. Those of holders are in
 * holder-routes.ts.
 *
 * @module
 */

import { edgeRoutes, type Readiness, type RecipientRecord } from '@pool/api';
import {
  isIdempotencyKey,
  PoolError,
  parseEncryptionPublicKey,
  parseHex,
  tryParseEvmAddress,
} from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import type { Shell, ShellContext } from '@pool/http-server';
import { readJson } from '@pool/http-server';
import {
  type AcceptDeps,
  acceptSettlement,
  acceptVoid,
  describeSettlement,
  findSubmission,
  isUnfinished,
  redeliverNotes,
  type SubmissionRow,
} from '@pool/relayer';
import { type CallerDeps, identifyAgent } from '../accounts/identify-caller.ts';
import type { Subject } from '../enrolment/enrolment.ts';
import { settlementCost } from '../http/rate-limit.ts';
import { assertServed, type BootstrapSettings, describeBootstrap } from './bootstrap.ts';
import { readFresh, type SubmissionDeps, submit, traceJob } from './submissions.ts';

// Recipient look-up (protocol §2): W, P, readiness and evidence by address. The agent verifies the
// evidence itself and need not trust this answer.

/**
 * One record per address, in the order of the request, each with the address as it was spelled.
 * @param hasGate - without a gate no wallet is fundable, even if an earlier gate confirmed it
 */
async function lookupRecipients(
  db: PlatformDatabase,
  addresses: readonly string[],
  hasGate: boolean,
): Promise<RecipientRecord[]> {
  const parsed = addresses.map(tryParseEvmAddress);
  const wanted = parsed.filter((address) => address !== undefined);
  const subjects =
    wanted.length === 0
      ? []
      : await db.selectFrom('subjects').selectAll().where('address', 'in', wanted).execute();
  const byAddress = new Map(subjects.map((subject) => [subject.address, subject]));
  return addresses.map((address, index) =>
    describeRecipient(address, byAddress.get(parsed[index] ?? ''), hasGate),
  );
}

function describeRecipient(
  address: string,
  subject: Subject | undefined,
  hasGate: boolean,
): RecipientRecord {
  if (subject === undefined) {
    return { address, readiness: 'not_enrolled' };
  }
  const readiness: Readiness = hasGate ? subject.readiness : 'eligibility_disabled';
  return {
    address,
    readiness,
    walletPub: parseHex(subject.wallet_pub),
    encryptionPublicKey: parseEncryptionPublicKey(subject.encryption_public_key),
    evidence: {
      message: subject.evidence_message,
      signature: parseHex(subject.evidence_signature),
    },
  };
}

export type EdgeDeps = AcceptDeps &
  CallerDeps &
  SubmissionDeps & {
    readonly bootstrap: BootstrapSettings;
    /** Whether this deployment has a gate, which confirms wallets. */
    readonly hasGate: boolean;
  };

export function addEdgeRoutes(app: Shell, deps: EdgeDeps): void {
  const { db, bootstrap } = deps;

  async function answerSettlement(c: ShellContext, row: SubmissionRow): Promise<Response> {
    return c.json(await describeSettlement(db, row), isUnfinished(row) ? 202 : 200);
  }

  app.post('/agent-edge/bootstrap', async (c) => {
    const caller = await identifyAgent(deps, c);
    await readJson(c, edgeRoutes.bootstrap.body);
    const reader = await bootstrap.vendReader?.(caller.id);
    return c.json(describeBootstrap(caller, bootstrap, reader));
  });

  app.post('/agent-edge/recipients/lookup', async (c) => {
    await identifyAgent(deps, c);
    const { chain, addresses } = await readJson(c, edgeRoutes.lookupRecipients.body);
    assertServed(bootstrap, chain);
    return c.json({ recipients: await lookupRecipients(db, addresses, deps.hasGate) });
  });

  app.post('/agent-edge/settlements', async (c) => {
    const { id, edgeTokenId } = await identifyAgent(deps, c);
    const row = await submit(c, deps, edgeRoutes.postSettlement.body, {
      ...{ kind: 'settlement', owner: id, credential: edgeTokenId },
      who: { employer: id, edgeToken: edgeTokenId },
      accept: (key, request, beforeWork) =>
        acceptSettlement({ ...deps, beforeWork }, id, key, request),
    });
    return await answerSettlement(c, row);
  });

  app.get('/agent-edge/settlements/:key', async (c) => {
    const { id } = await identifyAgent(deps, c);
    const row = await readFresh(c, deps, (key) => findSubmission(db, id, key));
    if (row === undefined) {
      throw new PoolError('settlement_not_found', 'there is no settlement of that key');
    }
    return await answerSettlement(c, row);
  });

  app.post('/agent-edge/settlements/:key/void', async (c) => {
    const { id } = await identifyAgent(deps, c);
    await deps.limits.settlements.take(id, settlementCost.request + settlementCost.checks);
    const key = c.req.param('key');
    traceJob(c, key);
    const row = await acceptVoid(deps, id, key, await readJson(c, edgeRoutes.postVoid.body));
    c.get('log').info({ settlement: row.id, state: row.state }, 'withdrawal accepted');
    if (isUnfinished(row)) {
      deps.onAccepted();
    }
    return await answerSettlement(c, row);
  });

  app.post('/agent-edge/settlements/:key/notes', async (c) => {
    const { id } = await identifyAgent(deps, c);
    await deps.limits.settlements.take(id, settlementCost.request + settlementCost.checks);
    const key = c.req.param('key');
    const delivery = await readJson(c, edgeRoutes.redeliverNotes.body);
    if (!isIdempotencyKey(key)) {
      throw new PoolError('invalid_request', 'the key in the path is not an Idempotency-Key');
    }
    return await answerSettlement(c, await redeliverNotes(deps, id, key, delivery));
  });
}
