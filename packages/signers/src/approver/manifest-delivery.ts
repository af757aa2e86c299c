/**
 * When the approve process gets the manifest file of a request: before the custodian is asked, and again while the request waits for
 * its vote. A gate that was restored from a backup has lost the manifests of today, and would wait for them without an end.
 *
 * @module
 */
import { isPoolError, type ManifestFile, PoolError, peerCode } from '@pool/core';
import type { Approver } from './approver-client.ts';

type Delivered = { readonly externalId: string; readonly file?: ManifestFile };

export type ManifestDelivery = {
  /**
   * Before a request is created.
   * @returns why the gate did not take the file. Undefined: it has it, or there is nothing to send
   */
  handOver(request: Delivered, signal?: AbortSignal): Promise<PoolError | undefined>;
  /**
   * While a request waits at the custodian: hands the file over again every few minutes, and at the first call of this process.
   * @throws PoolError retryable, whatever the gate answers: the request is at the custodian, and can still be approved
   */
  remind(request: Delivered, signal?: AbortSignal): Promise<void>;
  /** The request does not wait any more. */
  forget(request: Delivered): void;
};

/** A gate that was restored and re-baselined has the manifests of waiting requests again after this time. */
const repeatMs = 5 * 60_000;

/** A gate that refuses a file has rebuilt it first, which takes a second of computing. */
const retryMs = 60_000;

export function createManifestDelivery(
  approver: Approver | undefined,
  nowMs: () => number,
): ManifestDelivery {
  /** By externalId: the last answer of the gate while the request waits. */
  const answers = new Map<string, { readonly atMs: number; readonly failure?: PoolError }>();

  async function post(
    { externalId, file }: Delivered,
    signal?: AbortSignal,
  ): Promise<PoolError | undefined> {
    if (approver === undefined || file === undefined) {
      return undefined;
    }
    try {
      await approver.postManifest(file, signal);
      answers.set(externalId, { atMs: nowMs() });
      return undefined;
    } catch (error) {
      signal?.throwIfAborted();
      if (!isPoolError(error)) {
        throw error;
      }
      return error;
    }
  }

  return {
    handOver: post,
    async remind(request, signal) {
      const { externalId } = request;
      const known = answers.get(externalId);
      const isDue =
        known === undefined ||
        nowMs() - known.atMs >= (known.failure === undefined ? repeatMs : retryMs);
      const refusal = isDue ? await post(request, signal) : known.failure;
      if (refusal !== undefined) {
        const { code, message, cause } = refusal;
        const failure = new PoolError(peerCode(code), message, { retryable: true, cause });
        if (isDue) {
          answers.set(externalId, { atMs: nowMs(), failure });
        }
        throw failure;
      }
    },
    forget: ({ externalId }) => {
      answers.delete(externalId);
    },
  };
}
