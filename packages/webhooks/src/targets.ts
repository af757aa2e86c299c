/**
 * The file of targets: who is told, with which secret. Mode 0600, because whoever has a secret can sign events.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { isLoopbackHost, isPoolError, PoolError, parseStrictJson, parseWire } from '@pool/core';
import { replaceDurableFile } from '@pool/storage';
import * as v from 'valibot';
import { webhookEventTypes } from './events.ts';

/** Base64 of 24 to 64 random bytes, as the specification asks. */
const secretSchema = v.pipe(
  v.string(),
  v.regex(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/, 'must be whsec_ and base64 of 24 to 64 bytes'),
);

const targetSchema = v.strictObject({
  /** Names the target in commands and logs. */
  id: v.pipe(
    v.string(),
    v.regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must be lower-case letters, digits and hyphens'),
  ),
  url: v.pipe(v.string(), v.maxLength(2_000)),
  /** Secret. Every event is signed with each: the second one is the former secret during a rotation. */
  secrets: v.pipe(v.array(secretSchema), v.minLength(1), v.maxLength(2)),
  /** Absent: all. */
  events: v.optional(v.array(v.picklist(webhookEventTypes))),
});
const fileSchema = v.strictObject({ targets: v.pipe(v.array(targetSchema), v.maxLength(20)) });

export type WebhookTarget = v.InferOutput<typeof targetSchema>;

/** Where the targets are, and what they may be. */
export type TargetPlace = {
  readonly path: string;
  /** A target may be http or https on this machine, for tests and for receivers beside the agent. */
  readonly allowInsecureLoopback: boolean;
};

/** @throws PoolError `invalid_configuration`, which repeats no secret */
export function readTargets({
  path,
  allowInsecureLoopback,
}: TargetPlace): readonly WebhookTarget[] {
  const name = `the file of DISBURSE_WEBHOOKS_FILE (${path})`;
  const refuse = (problem: string, cause?: unknown): PoolError =>
    new PoolError('invalid_configuration', `${name} ${problem}`, { cause });
  let text: string;
  try {
    // On Windows access lists decide, and the mode does not show them.
    if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
      throw refuse('can be read by other users, and it holds secrets; run chmod 600 on it');
    }
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw isPoolError(cause) ? cause : refuse('cannot be read', cause);
  }
  const { targets } = parseFile(text, name);
  for (const [index, { id, url }] of targets.entries()) {
    if (targets.findIndex((other) => other.id === id) !== index) {
      throw refuse(`has two targets with the id ${id}`);
    }
    const problem = findUrlProblem(url, allowInsecureLoopback);
    if (problem !== undefined) {
      throw refuse(`has the target ${id}, whose url ${problem}`);
    }
  }
  return targets;
}

function parseFile(text: string, name: string): v.InferOutput<typeof fileSchema> {
  try {
    return parseWire(fileSchema, parseStrictJson(text, name), name);
  } catch (cause) {
    const message = isPoolError(cause) ? cause.message : `${name} is not valid`;
    throw new PoolError('invalid_configuration', message, { cause });
  }
}

function findUrlProblem(text: string, allowInsecureLoopback: boolean): string | undefined {
  if (!URL.canParse(text)) {
    return 'is not a URL';
  }
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    return 'must not contain credentials or a fragment';
  }
  if (isLoopbackHost(url.hostname) && !allowInsecureLoopback) {
    return 'is on this machine; set DISBURSE_WEBHOOKS_LOOPBACK=allow to permit that';
  }
  const isAllowed =
    url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
  return isAllowed ? undefined : 'must be https';
}

/** A new secret: 32 random bytes. */
export function createWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/**
 * Puts a new secret before the present one, or ends the overlap: then only the new one remains.
 * @returns the new secret; undefined: the overlap has ended
 * @throws PoolError `not_found`, `invalid_request`, `invalid_configuration`
 */
export function rotateSecret(place: TargetPlace, id: string, ends: boolean): string | undefined {
  const targets = readTargets(place);
  const target = findTarget(targets, id);
  const [current = '', former] = target.secrets;
  if (ends === (former === undefined)) {
    throw new PoolError(
      'invalid_request',
      ends
        ? `${id} has one secret; there is nothing to end`
        : `${id} already has two secrets; end this rotation with --finish first`,
    );
  }
  const fresh = ends ? undefined : createWebhookSecret();
  const secrets = fresh === undefined ? [current] : [fresh, current];
  const changed = targets.map((one) => (one === target ? { ...one, secrets } : one));
  replaceDurableFile(place.path, `${JSON.stringify({ targets: changed }, null, 2)}\n`);
  return fresh;
}

/** @throws PoolError `not_found` */
export function findTarget(targets: readonly WebhookTarget[], id: string): WebhookTarget {
  const found = targets.find((target) => target.id === id);
  if (found === undefined) {
    const ids = targets.map((target) => target.id).join(', ');
    throw new PoolError(
      'not_found',
      `no target has this id; the targets are ${ids === '' ? 'none' : ids}`,
    );
  }
  return found;
}
