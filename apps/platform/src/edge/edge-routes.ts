/**
 * `/agent-edge/…` (ARCHITECTURE.md): the routes for agents, with an edge token bound to one employer. Those of holders are in
 * holder-routes.ts.
 *
 * @module
 */

import { edgeRoutes, type Readiness, type RecipientRecord } from '@pool/api';
import {
  errorCodeOf,
  isIdempotencyKey,
  PoolError,
  parseEncryptionPublicKey,
  parseHex,
  tryParseEvmAddress,
} from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import type { Shell, ShellContext } from '@pool/http-server';
import { readIdempotencyKey, readJson } from '@pool/http-server';
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
import { countRefusedProof } from '../accounts/credential-rows.ts';
import { type CallerDeps, identifyAgent } from '../accounts/identify-caller.ts';
import type { Subject } from '../enrolment/enrolment.ts';
import { settlementCost } from '../http/rate-limit.ts';
import {
  assertOpen,
  assertServed,
  type BootstrapSettings,
  describeBootstrap,
} from './bootstrap.ts';
import { traceJob } from './edge-requests.ts';
import { assertProofsGood, noteRefusedProof } from './refused-proofs.ts';

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
  CallerDeps & {
    readonly bootstrap: BootstrapSettings;
    /** Whether this deployment has a gate, which confirms wallets. */
    readonly hasGate: boolean;
    /** Wakes the relayer, because there is something to send. */
    readonly onAccepted: () => void;
    /** Brings the index up to the chain's final block, within a short time limit. */
    readonly refreshIndex: (chain: string) => Promise<void>;
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
    deps.limits.settlements.take(id, settlementCost.request);
    const key = readIdempotencyKey(c);
    traceJob(c, key);
    const request = await readJson(c, edgeRoutes.postSettlement.body);
    const beforeWork = (): void => {
      assertOpen(bootstrap, request.chain);
      assertProofsGood(deps.limits.refusedProofs, id, 'settlements of this employer');
      deps.limits.settlements.take(id, settlementCost.checks);
    };
    const accepting = acceptSettlement({ ...deps, beforeWork }, id, key, request);
    const row = await accepting.catch(async (error: unknown) => {
      if (errorCodeOf(error) === 'proof_invalid') {
        const refused = await countRefusedProof(db, 'edge_tokens', edgeTokenId);
        c.get('log').warn({ employer: id, edgeToken: edgeTokenId, refused }, 'a proof was refused');
        noteRefusedProof(deps.limits.refusedProofs, id);
      }
      if (errorCodeOf(error) === 'gas_budget_exceeded') {
        c.get('log').warn(
          { employer: id, chain: request.chain },
          'an employer has no gas left today',
        );
      }
      throw error;
    });
    c.get('log').info({ settlement: row.id, state: row.state }, 'settlement accepted');
    if (row.state === 'accepted') {
      deps.onAccepted();
    }
    return await answerSettlement(c, row);
  });

  app.get('/agent-edge/settlements/:key', async (c) => {
    const { id } = await identifyAgent(deps, c);
    // The path has the key without quoting: a quote character there is part of the key.
    const key = c.req.param('key');
    traceJob(c, key);
    const row = isIdempotencyKey(key) ? await findSubmission(db, id, key) : undefined;
    if (row === undefined) {
      throw new PoolError('settlement_not_found', 'there is no settlement of that key');
    }
    if (!isUnfinished(row)) {
      return await answerSettlement(c, row);
    }
    // The caller may have seen the batch on chain already, so the answer must not be older than the chain.
    await deps.refreshIndex(row.chain);
    return await answerSettlement(c, (await findSubmission(db, id, key)) ?? row);
  });

  app.post('/agent-edge/settlements/:key/void', async (c) => {
    const { id } = await identifyAgent(deps, c);
    deps.limits.settlements.take(id, settlementCost.request + settlementCost.checks);
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
    deps.limits.settlements.take(id, settlementCost.request + settlementCost.checks);
    const key = c.req.param('key');
    const delivery = await readJson(c, edgeRoutes.redeliverNotes.body);
    if (!isIdempotencyKey(key)) {
      throw new PoolError('invalid_request', 'the key in the path is not an Idempotency-Key');
    }
    return await answerSettlement(c, await redeliverNotes(deps, id, key, delivery));
  });
}
