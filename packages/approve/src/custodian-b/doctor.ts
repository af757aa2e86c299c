/**
 * What `approve doctor` proves about custodian B: every vault account of the policy has its address, the co-signer calls this gate before
 * it signs, for each of its users and with the gate's key, and the paired user is the pinned one. A co-signer without a handler signs by
 * itself.
 *
 * @module
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { PoolError, tryParseEvmAddress } from '@pool/core';
import type { Policy } from '@pool/policy';
import * as v from 'valibot';
import {
  checkAddress,
  checked,
  checkListed,
  type DoctorCheck,
  type Examine,
  failed,
  listPolicyWallets,
  type PolicyWallet,
  passed,
} from '../examine/doctor.ts';
import type { CustodianBReader } from './read-client.ts';

const pairedUserSchema = v.object({
  id: v.string(),
  callbackHandler: v.nullish(v.object({ url: v.string(), publicKey: v.optional(v.string()) })),
});
type PairedUser = v.InferOutput<typeof pairedUserSchema>;

const pageSchema = v.object({
  data: v.array(pairedUserSchema),
  next: v.nullish(v.string()),
});

const accountSchema = v.object({
  id: v.union([v.string(), v.pipe(v.number(), v.transform(String))]),
  assets: v.pipe(v.array(v.object({ id: v.string() })), v.maxLength(1_000)),
});

const addressesSchema = v.object({
  addresses: v.array(
    v.object({ address: v.nullish(v.string()), bip44AddressIndex: v.nullish(v.number()) }),
  ),
});

/** A co-signer has a few users. A listing that does not end is not the documented one. */
const maxPages = 100;

type CosignerDeps = {
  readonly reader: CustodianBReader;
  readonly cosignerId: string;
  readonly signerId: string;
  readonly callbackUrl: URL;
  /** Its public half must be the one that the co-signer verifies answers with. */
  readonly callbackKey: KeyObject;
};

export function createCustodianBExamination(
  deps: CosignerDeps & { readonly policy: () => Policy },
): Examine {
  return async () => {
    const wallets = listPolicyWallets(deps.policy());
    const checks = [checkListed(wallets)];
    for (const wallet of wallets) {
      checks.push(checkAddress(wallet, await readAddress(deps.reader, wallet)));
    }
    return [...checks, ...(await examineCosigner(deps))];
  };
}

async function examineCosigner(deps: CosignerDeps): Promise<readonly DoctorCheck[]> {
  const users = await readPairedUsers(deps.reader, deps.cosignerId);
  if (users === undefined) {
    return [
      failed(
        'cosigner',
        `the custodian knows no co-signer ${deps.cosignerId}; check APPROVE_CUSTODIAN_B_COSIGNER_ID`,
      ),
    ];
  }
  const paired = users.find(({ id }) => id === deps.signerId);
  if (paired === undefined) {
    return [
      failed(
        'paired-user',
        `the user ${deps.signerId} is not paired with the co-signer; check APPROVE_CUSTODIAN_B_SIGNER_ID`,
      ),
    ];
  }
  const checks = [
    passed('paired-user', 'the pinned user is paired with the co-signer'),
    checkOthers(
      users.filter(({ id }) => id !== deps.signerId),
      deps,
    ),
  ];
  const handler = paired.callbackHandler;
  if (!handler) {
    return [
      ...checks,
      failed(
        'handler',
        'the custodian has no handler configured, so its co-signer signs by itself; set the callback handler of the paired user',
      ),
    ];
  }
  return [
    ...checks,
    passed('handler', 'the co-signer asks a handler'),
    checked(
      'callback-url',
      isSameUrl(handler.url, deps.callbackUrl),
      'the handler is this gate',
      'the handler is another address than APPROVE_CUSTODIAN_B_CALLBACK_URL',
    ),
    checked(
      'callback-key',
      isSameKey(handler.publicKey, deps.callbackKey),
      'the co-signer verifies answers with the key of this gate',
      'the co-signer verifies answers with another key than that of APPROVE_CUSTODIAN_B_CALLBACK_PRIVATE_KEY',
    ),
  ];
}

/** The account signs with the key of its first address, which is the same for every EVM asset. Other assets have others. */
async function readAddress(
  reader: CustodianBReader,
  { wallet, address }: PolicyWallet,
): Promise<'same' | 'other' | 'unknown'> {
  const place = `/v1/vault/accounts/${encodeURIComponent(wallet)}`;
  const answer = await reader.get(place);
  if (answer === undefined) {
    return 'unknown';
  }
  const account = v.safeParse(accountSchema, answer);
  if (!account.success || account.output.id !== wallet) {
    throw invalidAnswer(`the vault account ${wallet}`, 'does not have the documented form');
  }
  for (const asset of account.output.assets) {
    const listed = v.safeParse(
      addressesSchema,
      await reader.get(`${place}/${encodeURIComponent(asset.id)}/addresses_paginated`),
    );
    const first = (listed.success ? listed.output.addresses : []).filter(
      ({ bip44AddressIndex }) => (bip44AddressIndex ?? 0) === 0,
    );
    if (first.some((one) => tryParseEvmAddress(one.address) === address)) {
      return 'same';
    }
  }
  return 'other';
}

/**
 * Every user of every page.
 *
 * @returns undefined when the custodian does not know the co-signer
 * @throws PoolError `custodian_invalid_response` when a page is missing or malformed: a user on it could be without a handler
 */
async function readPairedUsers(
  reader: CustodianBReader,
  cosignerId: string,
): Promise<readonly PairedUser[] | undefined> {
  const place = `/v1/cosigners/${encodeURIComponent(cosignerId)}/api_keys`;
  const first = await reader.get(place);
  if (first === undefined) {
    return undefined;
  }
  const users: PairedUser[] = [];
  const cursors = new Set<string>();
  let answer: unknown = first;
  for (;;) {
    const page = v.safeParse(pageSchema, answer);
    if (!page.success) {
      throw invalidAnswer('its co-signer', 'does not have the documented form');
    }
    users.push(...page.output.data);
    const { next } = page.output;
    if (!next) {
      return users;
    }
    if (cursors.has(next) || cursors.size === maxPages) {
      throw invalidAnswer('its co-signer', 'does not end');
    }
    cursors.add(next);
    answer = await reader.get(place, { pageCursor: next });
  }
}

function invalidAnswer(what: string, problem: string): PoolError {
  return new PoolError(
    'custodian_invalid_response',
    `the custodian's answer about ${what} ${problem}`,
  );
}

/** The co-signer signs for each of its users. A handler that is not this gate may approve anything. */
function checkOthers(
  others: readonly PairedUser[],
  { callbackUrl, callbackKey }: { readonly callbackUrl: URL; readonly callbackKey: KeyObject },
): DoctorCheck {
  const wrong = others.find(
    ({ callbackHandler: handler }) =>
      !handler ||
      !isSameUrl(handler.url, callbackUrl) ||
      !isSameKey(handler.publicKey, callbackKey),
  );
  if (wrong === undefined) {
    return passed('other-users', 'every user of the co-signer asks this gate');
  }
  return failed(
    'other-users',
    wrong.callbackHandler
      ? `the user ${wrong.id} of the co-signer has another handler or key than this gate, so the gate can be gone around; set this gate as its handler, or end its pairing`
      : `the user ${wrong.id} of the co-signer has no handler, so the co-signer signs for it by itself; set this gate as its handler, or end its pairing`,
  );
}

function isSameUrl(url: string, own: URL): boolean {
  return URL.canParse(url) && trim(new URL(url)) === trim(own);
}

function trim({ origin, pathname }: URL): string {
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

function isSameKey(pem: string | undefined, own: KeyObject): boolean {
  try {
    return createPublicKey(pem ?? '').equals(createPublicKey(own));
  } catch {
    return false;
  }
}
