/**
 * How the record of a disbursement and the values beside it are made, written and read.
 *
 * @module
 */

import {
  type DisbursementJob,
  fundManifestSchema,
  type JobState,
  PoolError,
  parseHex32,
  parseWire,
} from '@pool/core';
import type { SeededManifest } from '@pool/wallet';
import type { CheckedDisbursement } from '../../check/checks.ts';
import type { DisbursementRecord } from './disbursement-record.ts';
import { phaseOf } from './phase.ts';

export type {
  DisbursementRecord,
  ForeignSettlement,
  RecordedApproval,
  RecordedProof,
  RecordedVote,
  RequestedApproval,
} from './disbursement-record.ts';

/** Batch attempts: one per key, ever (docs/decisions/0007). */
export const attempt = 1;

/** Name of the write-once value that holds manifest and seed. */
export const manifestName = `fund-manifest/${attempt}`;

/** Name of the write-once value that holds the release record: one for each attempt. */
export const releaseName = `fund-release/${attempt}`;

/** Name of the write-once value that records a cancellation request. */
export const cancellationName = 'cancellation';

/** The record of a freshly accepted job. */
export function createRecord(
  checked: CheckedDisbursement,
  employerId: string,
  key: string,
  requestId?: string,
): DisbursementRecord {
  return {
    version: 1,
    employerId,
    key,
    ...(requestId === undefined ? {} : { requestId }),
    chain: checked.context.key,
    tokenSymbol: checked.tokenSymbol,
    requestDigest: checked.requestDigest,
    recipients: checked.recipients,
    skipped: checked.skipped,
    stageSeconds: {},
    approvals: [],
  };
}

export function serializeRecord(record: DisbursementRecord): string {
  return JSON.stringify(record);
}

/**
 * @throws PoolError `job_unreadable` for a text that {@link serializeRecord} did not write, and for a record that contradicts itself
 */
export function deserializeRecord(payload: string): DisbursementRecord {
  const value = parseStored(payload);
  if (typeof value !== 'object' || value === null || !('version' in value) || value.version !== 1) {
    throw new PoolError(
      'job_unreadable',
      'the job was stored by another version of the agent; run that version to finish it',
    );
  }
  // Written by this module, under a lease, into a store that only this agent writes.
  const record = value as DisbursementRecord;
  phaseOf(record);
  return record;
}

/** @throws PoolError `job_unreadable`. An error of the parser would quote the text. */
function parseStored(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    throw new PoolError(
      'job_unreadable',
      'the stored job is damaged: it is not JSON; restore the job store from a backup',
    );
  }
}

export function serializeManifest(seeded: SeededManifest): string {
  return JSON.stringify(seeded);
}

export function deserializeManifest(text: string): SeededManifest {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || !('manifest' in value) || !('seed' in value)) {
    throw new PoolError('job_unreadable', 'the stored manifest is incomplete');
  }
  return {
    manifest: parseWire(fundManifestSchema, value.manifest, 'the stored manifest'),
    seed: parseHex32(value.seed),
  };
}

/** The job object of `GET /api/disburse/:key`. @throws PoolError `job_unreadable` for an ended job without its outcome */
export function createJobView(state: JobState, record: DisbursementRecord): DisbursementJob {
  const { key, stage, result, error } = record;
  switch (state) {
    case 'accepted':
      return { key, state };
    case 'submitted':
      return { key, state, ...(stage === undefined ? {} : { stage }) };
    case 'done':
      return { key, state, result: assertStored(result) };
    case 'failed':
      return { key, state, error: assertStored(error) };
  }
}

function assertStored<T>(outcome: T | undefined): T {
  if (outcome === undefined) {
    throw new PoolError('job_unreadable', 'the stored job has ended without an outcome');
  }
  return outcome;
}
