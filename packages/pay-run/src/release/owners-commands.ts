/**
 * `disburse-agent release owners` and the import of their signatures: what the owners of a contract wallet are asked to sign, and what
 * comes back (ERC-1271). The owners sign outside, for example in the application of their Safe.
 *
 * @module
 */
import { PoolError, parseHex, parseStrictJson, parseWire } from '@pool/core';
import {
  listOwnersRequests,
  type OwnersOffice,
  type OwnersSignature,
  type OwnersView,
  storeOwnersSignature,
} from '@pool/operations';
import { loopbackCredential } from '@pool/policy';
import * as v from 'valibot';
import { exitCodes } from '../exit-codes.ts';
import type { Output } from '../ports.ts';
import { writeNewFile } from '../report/new-file.ts';
import type { ReleaseSource } from './release-source.ts';

/** @returns the exit code */
export async function listOwners(
  place: OwnersOffice,
  options: { readonly out?: string; readonly json?: boolean },
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  const views = await listOwnersRequests(place);
  if (options.out !== undefined) {
    writeNewFile(options.out, formatOwnersRequests(views));
    out(
      options.json === true
        ? { file: options.out, requests: views.length }
        : `${options.out}: ${views.length} request(s); they hold totals, and no recipient`,
    );
  } else if (options.json === true) {
    out(createDocument(views));
  } else {
    const lines = views.map(toDocument).map(describe);
    out(lines.join('\n\n') || 'nothing waits for the owners of a contract wallet');
  }
  return exitCodes.ok;
}

/** The file that the owners are given. It holds totals, and no recipient. */
export function formatOwnersRequests(views: readonly OwnersView[]): string {
  return `${JSON.stringify(createDocument(views), null, 2)}\n`;
}

function createDocument(views: readonly OwnersView[]): object {
  return { format: 'pool/owners-request/1', requests: views.map(toDocument) };
}

/** All numbers as text, so that a wallet reads them as they are. */
function toDocument({ request, state, safeMessage, safeMessageHash, amount }: OwnersView) {
  const { kind, wallet, chainId, batch, count, deadline, digest, data } = request;
  const until = new Date(deadline * 1_000).toISOString();
  const about = { key: batch.key, kind, state, amount, count, chain: batch.chain, chainId, wallet };
  return { ...about, until, digest, typedData: data, safeMessage, safeMessageHash };
}

function describe(shown: ReturnType<typeof toDocument>): string {
  const { key, kind, state, amount, count, chain, wallet, until, digest, safeMessageHash } = shown;
  const what =
    kind === 'void' ? 'the withdrawal of a payment of' : `a payment to ${count} recipient(s) of`;
  return [
    `${key}: ${what} ${amount} on ${chain}, ${state}, until ${until}`,
    `  wallet ${wallet}`,
    `  digest ${digest}`,
    `  the owners sign ${safeMessageHash} (SafeMessage of the digest)`,
  ].join('\n');
}

const hex = v.pipe(v.string(), v.maxLength(8_194), v.regex(/^0x(?:[0-9a-fA-F]{2})*$/));

/** A message of Safe's transaction service. It has further fields. */
const messageSchema = v.object({
  safe: v.optional(v.string()),
  messageHash: v.optional(v.string()),
  preparedSignature: v.nullish(hex),
  confirmations: v.optional(
    v.pipe(v.array(v.object({ owner: v.string(), signature: hex })), v.maxLength(100)),
  ),
});

/** Undefined: it is another file. @throws PoolError `invalid_release`, `invalid_request` */
export function parseOwnersSignature({ name, text }: ReleaseSource): OwnersSignature | undefined {
  const trimmed = text.trim();
  if (/^0x[0-9a-fA-F]*$/.test(trimmed)) {
    return { signature: parseHex(trimmed.toLowerCase()) };
  }
  const value = parseStrictJson(text, name);
  if (typeof value !== 'object' || value === null || 'format' in value) {
    return undefined;
  }
  const {
    safe,
    messageHash,
    preparedSignature,
    confirmations = [],
  } = parseWire(messageSchema, value, name);
  const sorted = confirmations.toSorted((left, right) =>
    left.owner.toLowerCase() < right.owner.toLowerCase() ? -1 : 1,
  );
  const joined = sorted.map(({ signature }) => signature.slice(2)).join('');
  const signature = parseHex((preparedSignature ?? `0x${joined}`).toLowerCase());
  if (signature === '0x') {
    throw new PoolError('invalid_release', `${name} holds no signature of an owner yet`);
  }
  return { safe, messageHash, signature };
}

/** @returns the exit code */
export async function importOwnersSignature(
  signature: OwnersSignature,
  place: OwnersOffice,
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  const { request } = await storeOwnersSignature(place, signature, loopbackCredential);
  out(`${request.batch.key}: signed by the owners of ${request.wallet}`);
  return exitCodes.ok;
}
