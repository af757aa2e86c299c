/**
 * The approve process as an adapter of a custodian needs it: it takes the manifest file of a request before the custodian is asked.
 * The gate votes yes only for what it can rebuild from such a file.
 *
 * @module
 */
import {
  computeManifestDigest,
  hex32Schema,
  type ManifestFile,
  PoolError,
  type Secret,
} from '@pool/core';
import * as v from 'valibot';
import {
  createHttpClient,
  describeAnswer,
  type HttpClient,
  type HttpClientOptions,
} from '../http/http-client.ts';

export type Approver = {
  /**
   * Hands the file over. Safe to repeat: the gate stores a file by its digest.
   * @throws PoolError `approver_unreachable`, `approver_refused`, `approver_invalid_response`
   */
  postManifest(file: ManifestFile, signal?: AbortSignal): Promise<void>;
};

export type ApproverClientOptions = Omit<HttpClientOptions, 'service'> & {
  /** Bearer token of the intake. */
  readonly token: Secret;
};

const receiptSchema = v.object({ manifestDigest: hex32Schema });

/** A client of the gate's `POST /v1/manifests`. @throws PoolError `invalid_url` */
export function createApproverClient({ token, ...options }: ApproverClientOptions): Approver {
  const call: HttpClient = createHttpClient({ ...options, service: 'approver' });
  return {
    async postManifest(file, signal) {
      const answer = await call({
        method: 'POST',
        path: '/v1/manifests',
        headers: { authorization: `Bearer ${token.reveal()}` },
        body: JSON.stringify(file),
        signal,
      });
      if (answer.status < 200 || answer.status > 299) {
        const isDown = answer.status >= 500 || answer.status === 408 || answer.status === 429;
        throw new PoolError(
          isDown ? 'approver_unreachable' : 'approver_refused',
          `the approve process did not take the manifest: ${describeAnswer(answer, [token])}`,
        );
      }
      const receipt = v.safeParse(receiptSchema, answer.body);
      // Another digest: the gate stored another manifest, and would deny the request.
      if (
        !receipt.success ||
        receipt.output.manifestDigest !== computeManifestDigest(file.manifest)
      ) {
        throw new PoolError(
          'approver_invalid_response',
          'the approve process did not answer with the digest of the manifest',
        );
      }
    },
  };
}
