/**
 * Recipient look-up (protocol §2): W, P, readiness and evidence by address. The agent verifies the
 * evidence itself; nothing here needs to be believed.
 *
 * @module
 */
import type { Readiness, RecipientRecord } from '@pool/api';
import { parseEncryptionPublicKey, parseHex, tryParseEvmAddress } from '@pool/core';
import type { Subject } from '../accounts/enrolment.ts';
import type { PlatformDatabase } from '../database/platform-tables.ts';

/**
 * One record an address, in the order asked, each with the address as it was spelled.
 * @param hasGate - without one nobody is fundable, whatever a gate that was there before has confirmed
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
