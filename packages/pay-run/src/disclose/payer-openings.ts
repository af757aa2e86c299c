/**
 * Everything that this agent can disclose as a payer: openings that were kept when recipients and seeds were erased, and those of payments
 * that still have them.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readPaidBatch } from '@pool/operations';
import { createPace, type KeptOpenings, openBatch, openSpend } from '@pool/wallet';
import { openingsPath, openOpeningsStore, openSpendArchive } from '@pool/wallet/node';
import { readRecord, withStore } from '../ledger/stored-keys.ts';

/** Makes no file. @throws PoolError `store_damaged`; the errors of the stores */
export async function listOpenings(
  { home, jobStore }: { readonly home: string; readonly jobStore: string },
  isWanted: (openings: {
    readonly jobKey?: string | undefined;
    readonly txHash: string;
  }) => boolean,
): Promise<readonly KeptOpenings[]> {
  const found = [
    ...readKept(home),
    ...(await readSpends(home)),
    ...(await readJobs(jobStore, isWanted)),
  ].filter(isWanted);
  // An erasure that was interrupted has both.
  return [...new Map(found.map((openings) => [openings.root, openings])).values()];
}

function readKept(home: string): readonly KeptOpenings[] {
  if (!existsSync(openingsPath(home))) {
    return [];
  }
  const store = openOpeningsStore(home);
  try {
    return store.readAll();
  } finally {
    store.close();
  }
}

async function readSpends(home: string): Promise<readonly KeptOpenings[]> {
  const path = join(home, 'spends.sqlite');
  if (!existsSync(path)) {
    return [];
  }
  const archive = openSpendArchive(path);
  try {
    const spends = await archive.listErasable(Number.MAX_SAFE_INTEGER, 100_000);
    return spends.flatMap((spend) => openSpend(spend) ?? []);
  } finally {
    archive.close();
  }
}

/** @param isWanted - asked before a batch is rebuilt, which takes up to a second */
async function readJobs(
  jobStore: string,
  isWanted: Parameters<typeof listOpenings>[1],
): Promise<readonly KeptOpenings[]> {
  return await withStore(jobStore, [], async (store) => {
    const found: KeptOpenings[] = [];
    for (const { scope, key } of await store.listNames()) {
      const job = await store.get(scope, key);
      if (job?.state === 'done') {
        const paid = await readPaidBatch(store, job, readRecord(job.payload));
        if (paid !== undefined && isWanted(paid)) {
          found.push(await openBatch(paid, createPace()));
        }
      }
    }
    return found;
  });
}
