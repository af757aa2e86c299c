/**
 * Recipient look-up (protocol §2): W, P, readiness and evidence by address. The agent verifies the
 * evidence itself and need not trust this answer.
 *
 * @module
 */
import type { Readiness, RecipientRecord } from '@pool/api';
import { parseEncryptionPublicKey, parseHex, tryParseEvmAddress } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import type { Subject } from '../enrolment/enrolment.ts';

/**
 * One record per address, in the order of the request, each with the address as it was spelled.
 * @param hasGate - without a gate no wallet is fundable, even if an earlier gate confirmed it
 */
export async function lookupRecipients(
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
