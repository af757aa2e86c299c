/**
 * The approve process as an adapter of a custodian needs it: it takes the manifest file of a request before the custodian is asked.
 * The gate votes yes only for what it can rebuild from such a file.
 *
 * @module
 */
import {
  computeManifestDigest,
  type EvmAddress,
  hex32Schema,
  type ManifestFile,
  PoolError,
  type Secret,
} from '@pool/core';
import {
  createHttpClient,
  describeAnswer,
  type HttpAnswer,
  type HttpClient,
  type HttpClientOptions,
  isSuccess,
} from '@pool/http-client';
import * as v from 'valibot';

export type Approver = {
  /**
   * Hands the file over. Safe to repeat: the gate stores a file by its digest.
   * @throws PoolError `approver_unreachable`, `approver_refused`, `approver_invalid_response`, `manifest_conflict`, all retryable;
   *   `manifest_refused`: the gate will not take this manifest
   */
  postManifest(file: ManifestFile, signal?: AbortSignal): Promise<void>;
};

/** A wallet that asks for signatures at a custodian beside the gate. */
export type ApproverWallet = {
  readonly address: EvmAddress;
  readonly role: 'funder' | 'holder';
  /** Kind of the custodian that has the wallet. */
  readonly custodian: string;
};

export type ApproverClientOptions = Omit<HttpClientOptions, 'service'> & {
  /** Bearer token of the intake. */
  readonly token: Secret;
};

const receiptSchema = v.object({ manifestDigest: hex32Schema });
const text = v.pipe(v.string(), v.maxLength(64));
const standingSchema = v.object({ custodian: text, roles: v.array(text) });
const refusalSchema = v.object({ code: v.string() });

/** Answers that the same manifest gets again. */
const finalCodes: readonly string[] = ['manifest_refused', 'invalid_request', 'payload_too_large'];

/** A client of the gate's `POST /v1/manifests`. @throws PoolError `invalid_configuration` */
export function createApproverClient({ token, ...options }: ApproverClientOptions) {
  const call: HttpClient = createHttpClient({ ...options, service: 'approver' });
  const headers = (): Readonly<Record<string, string>> => ({
    authorization: `Bearer ${token.reveal()}`,
  });

  function createRefusal(answer: HttpAnswer): PoolError {
    const { status, body } = answer;
    const why = describeAnswer(answer, [token]);
    const refusal = v.safeParse(refusalSchema, body);
    const code = refusal.success ? refusal.output.code : '';
    const isDown = status >= 500 || status === 408 || status === 429;
    if (!isDown && finalCodes.includes(code)) {
      return new PoolError(
        'manifest_refused',
        `the approve process refuses the manifest, so nothing was sent to the custodian: ${why}`,
      );
    }
    if (!isDown && code === 'manifest_conflict') {
      return new PoolError(
        'manifest_conflict',
        `the approve process has another manifest of this job, which another agent or an earlier store of this one has posted, and which may still be paid: ${why}`,
        // Nobody knows that the other one is dead, so the job must not end before its own deadline.
        { retryable: true },
      );
    }
    return new PoolError(
      isDown ? 'approver_unreachable' : 'approver_refused',
      `the approve process did not take the manifest: ${why}`,
    );
  }

  async function probeWallet(
    { address, role, custodian }: ApproverWallet,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const path = `/v1/wallets/${address}`;
    const answer = await call({ method: 'GET', path, headers: headers(), signal });
    const why = describeAnswer(answer, [token]);
    if (answer.status === 401) {
      throw new PoolError(
        'approver_refused',
        `the approve process does not accept the token, ${why}; use the token of its APPROVE_MANIFEST_TOKEN`,
      );
    }
    if (answer.status >= 500 || answer.status === 429) {
      throw new PoolError(
        'approver_unreachable',
        `the approve process, or a proxy before it, is not ready: ${why}`,
      );
    }
    const standing = v.safeParse(standingSchema, answer.body);
    if (!isSuccess(answer) || !standing.success) {
      throw new PoolError(
        'approver_invalid_response',
        `what answers is not the approve process, or does not serve this address: ${why}`,
      );
    }
    if (standing.output.custodian !== custodian) {
      throw new PoolError(
        'manifest_refused',
        `the approve process votes at another kind of custodian than ${custodian}, which has the wallet ${address}; each custodian needs a gate of its own`,
      );
    }
    if (!standing.output.roles.includes(role)) {
      throw new PoolError(
        'manifest_refused',
        `the policy of the approve process does not list ${address} as a ${role}, so it would refuse every manifest of it; add it to the policy, or use the gate of this wallet`,
      );
    }
  }

  return {
    /** As {@link Approver.postManifest}. */
    async postManifest(file: ManifestFile, signal?: AbortSignal): Promise<void> {
      const answer = await call({
        method: 'POST',
        path: '/v1/manifests',
        headers: headers(),
        body: JSON.stringify(file),
        signal,
      });
      if (!isSuccess(answer)) {
        throw createRefusal(answer);
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

    /**
     * Is the gate there, does it accept the token, and does it judge for these wallets?
     * @throws PoolError `approver_unreachable`, `approver_refused`, `approver_invalid_response`; `manifest_refused`: it would refuse every
     *   manifest of one of the wallets
     */
    async probe(wallets: readonly ApproverWallet[], signal?: AbortSignal): Promise<void> {
      for (const wallet of wallets) {
        await probeWallet(wallet, signal);
      }
    },
  };
}
