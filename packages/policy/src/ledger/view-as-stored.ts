/**
 * A view for a manifest that was not posted yet: what would be decided about its payment if it were stored.
 *
 * @module
 */

import type { LedgerView } from '../history/ledger-view.ts';
import type { RebuiltManifest } from '../rebuild/rebuilt.ts';
import { toStoredManifest } from './store-manifest.ts';

/** @returns the view itself if a manifest with this digest is stored, also one with another seed or deadline */
export function viewAsStored(
  view: LedgerView,
  manifest: RebuiltManifest,
  nowMs: number,
): LedgerView {
  if (view.findManifest(manifest.manifestDigest) !== undefined) {
    return view;
  }
  const row = toStoredManifest(manifest, nowMs);
  const { batch } = row;
  return {
    ...view,
    findManifest: (digest) => (digest === row.manifestDigest ? row : view.findManifest(digest)),
    listAttempts(employerId, jobKey) {
      const attempts = view.listAttempts(employerId, jobKey);
      return batch?.employerId === employerId && batch.jobKey === jobKey
        ? [...attempts, row]
        : attempts;
    },
  };
}
