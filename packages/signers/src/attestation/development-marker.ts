/**
 * A development root carries its mark in its name, inside the signed part, so that its owner cannot forget to tell. It is accepted only
 * with `allowInsecureDevelopmentRoot`, and never under NODE_ENV=production: its key is in a file of a developer.
 *
 * @module
 */
import type { Certificate } from './certificate.ts';

/** Part of the subject of every development root. */
export const developmentRootMark = 'INSECURE development root';

export function isDevelopmentRoot({ subject }: Pick<Certificate, 'subject'>): boolean {
  return Buffer.from(subject).includes(developmentRootMark);
}
