/**
 * `disburse-agent viewing-key new`: makes a viewing key, prints it once, and stores nothing. Its owner keeps it: it cannot be derived
 * again.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { createViewingKey } from '@pool/notes';
import { exitCodes, type Output } from '@pool/pay-run';
import { describeViewingKey } from '@pool/wallet';
import { armor } from 'age-encryption';
import { createSealer } from '../../state/backup/age-file.ts';

export type ViewingKeyOptions = {
  /** An age recipient, `age1…`: the document is printed encrypted to it. */
  readonly encryptTo?: string;
};

/** @returns the exit code */
export async function printNewViewingKey(
  { encryptTo }: ViewingKeyOptions,
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  const entropy = randomBytes(48);
  const document = describeViewingKey(createViewingKey(entropy));
  entropy.fill(0);
  if (encryptTo === undefined) {
    out(document);
  } else {
    const sealer = createSealer({ kind: 'recipients', recipients: [encryptTo] });
    out(armor.encode(await sealer.encrypt(`${document}\n`)).trimEnd());
  }
  return exitCodes.ok;
}
