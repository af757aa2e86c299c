/**
 * The number of the ledger's last write, in a file beside it. A database that is older than its marker was restored from a backup: it
 * lacks votes, so it must not vote.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { parseStrictJson } from '@pool/core';
import { isCode, replaceDurableFile } from '@pool/storage';
import * as v from 'valibot';

const markerSchema = v.strictObject({
  version: v.literal(1),
  ledgerId: v.string(),
  generation: v.pipe(v.number(), v.integer(), v.minValue(0)),
});
export type GenerationMarker = Omit<v.InferOutput<typeof markerSchema>, 'version'>;

export type ReadMarker =
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'read'; readonly marker: GenerationMarker };

export function readMarker(path: string): ReadMarker {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return isCode(error, 'ENOENT') ? { kind: 'absent' } : { kind: 'unreadable' };
  }
  const parsed = v.safeParse(markerSchema, parseJson(text));
  return parsed.success ? { kind: 'read', marker: parsed.output } : { kind: 'unreadable' };
}

/** Replaces the marker. It is on the disk when this returns. */
export function writeMarker(path: string, { ledgerId, generation }: GenerationMarker): void {
  replaceDurableFile(path, `${JSON.stringify({ version: 1, ledgerId, generation })}\n`);
}

function parseJson(text: string): unknown {
  try {
    return parseStrictJson(text, 'the marker');
  } catch {
    return undefined;
  }
}

/**
 * Why the ledger is older than what was voted. Undefined: it is current.
 * @param isNew - the database was made now
 */
export function findRestoreReason(
  read: ReadMarker,
  ledger: GenerationMarker,
  isNew: boolean,
): string | undefined {
  switch (read.kind) {
    case 'absent':
      // A marker is written before any vote is given out, so a new ledger has none.
      return isNew ? undefined : 'the generation marker is missing';
    case 'unreadable':
      return 'the generation marker cannot be read';
    case 'read':
      if (isNew) {
        return 'the database is missing, and its marker is there';
      }
      if (read.marker.ledgerId !== ledger.ledgerId) {
        return 'the database is that of another ledger';
      }
      return read.marker.generation > ledger.generation
        ? `the database ends at write ${ledger.generation}, and write ${read.marker.generation} was made`
        : undefined;
  }
}
