/**
 * The keys that this page makes at the platform. Each browser profile makes its own, and a profile that was lost never revokes them.
 *
 * @module
 */
import { errorCodeOf, type Secret } from '@pool/core';
import type { SessionClient } from '@pool/platform-client/browser';
import type { EdgeKeyKind } from '@pool/wallet/browser';

/** Keys with other names are not the page's, and it leaves them alone. */
const prefix = 'payee page ';

type KeySession = Pick<
  SessionClient,
  'mintKey' | 'listKeys' | 'revokeKey' | 'mintEdgeToken' | 'listEdgeTokens' | 'revokeEdgeToken'
>;

/**
 * Makes a key. At the platform's limit it first revokes the page's oldest one. If another profile still uses that, its next call is refused,
 * and that profile makes a new key and repeats the call (`call` of the wallet's platform-calls.ts). It loses nothing else.
 *
 * @param held - the keys of this profile, secret. They are not revoked
 * @throws PoolError of the platform; `key_limit_reached` if none of the keys is the page's
 */
export async function mintEdgeKey(
  session: KeySession,
  kind: EdgeKeyKind,
  held: readonly Secret[],
  nowMs: number,
): Promise<Secret> {
  const name = `${prefix}${new Date(nowMs).toISOString().slice(0, 10)}`;
  const mint = async (): Promise<Secret> =>
    kind === 'edge'
      ? (await session.mintEdgeToken(name)).token
      : (await session.mintKey(kind, name)).apiKey;
  try {
    return await mint();
  } catch (error) {
    if (errorCodeOf(error) !== 'key_limit_reached') throw error;
    const oldest = (await list(session, kind)).find(
      ({ name: found, start }) =>
        found.startsWith(prefix) && !held.some((own) => own.reveal().startsWith(`${start}_`)),
    );
    if (oldest === undefined) throw error;
    await (kind === 'edge' ? session.revokeEdgeToken(oldest.id) : session.revokeKey(oldest.id));
    return await mint();
  }
}

/** Live ones that count against the limit of this kind, the oldest first. */
async function list(
  session: KeySession,
  kind: EdgeKeyKind,
): Promise<readonly { readonly id: number; readonly name: string; readonly start: string }[]> {
  if (kind === 'edge') {
    const tokens = await session.listEdgeTokens();
    return tokens
      .filter(({ revokedAt, issuedBy }) => revokedAt === undefined && issuedBy === 'session')
      .map(({ id, name, tokenPrefix: start }) => ({ id, name, start }));
  }
  const keys = await session.listKeys();
  return keys
    .filter(({ revokedAt }) => revokedAt === undefined)
    .map(({ id, name, keyPrefix: start }) => ({ id, name, start }));
}
