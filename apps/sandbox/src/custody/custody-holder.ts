/**
 * The keys of a holder whose signer is in custody, before it is enrolled: its signer's policy lists them.
 *
 * @module
 */
import { type Hex, PoolError, parseEncryptionPublicKey, parseHex, type Secret } from '@pool/core';
import { holderKinds, type RemoteHolderRole, remoteHolderRole } from '@pool/signers';
import * as v from 'valibot';
import { deriveHolder, type Holder, type SignInPlace } from '../chain/people.ts';
import { runAgentCommand } from '../processes/agent-command.ts';
import type { SignerKind } from './custody-place.ts';

const viewingKeySchema = v.object({
  scalar: v.string(),
  encryptionPublicKeys: v.object({ babyjubjub: v.string() }),
});

/** Undefined: the key of a holder is in its own agent. */
export function findHolderRole(kind: SignerKind): RemoteHolderRole | undefined {
  const known = holderKinds.find((one) => one === kind);
  return known && remoteHolderRole(known);
}

/**
 * An enclave repeats its signatures, so the viewing key is derived from one. A custodian does not, so the holder makes a viewing key with
 * the agent's command and keeps it.
 */
export async function prepareHolder(
  kind: SignerKind,
  privateKey: Secret<Hex>,
  place: SignInPlace,
): Promise<Holder> {
  const derived = await deriveHolder(privateKey, place);
  if (findHolderRole(kind)?.needsViewingKey !== true) {
    return derived;
  }
  const { stdout, code } = await runAgentCommand({ environment: {} }, ['viewing-key', 'new']);
  if (code !== 0) {
    throw new PoolError('sandbox_failed', 'no viewing key could be made; see above');
  }
  const { scalar, encryptionPublicKeys } = v.parse(viewingKeySchema, JSON.parse(stdout));
  return {
    ...derived,
    viewingKey: parseHex(scalar, 32),
    encryptionPublicKey: parseEncryptionPublicKey(encryptionPublicKeys.babyjubjub),
  };
}
