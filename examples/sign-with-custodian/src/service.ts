/**
 * Sign-ins of one wallet, stored so that none is lost or sent twice: a request is in a file before it is submitted, and after a crash
 * it is found at the custodian by the id of its content.
 *
 * @module
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSignRequest, type Outcome, type Progress, type Signer } from '@pool/signers';

export type SignIn = { readonly id: string } & (Progress | Outcome);

export type SignInService = Awaited<ReturnType<typeof createSignInService>>;

export async function createSignInService(options: {
  readonly signer: Signer;
  /** Folder of the stored requests. */
  readonly store: string;
  /** What a text must name. The signer refuses every other text. */
  readonly expected: { readonly domain: string; readonly uri: string; readonly chainId: number };
}) {
  const { signer, store, expected } = options;
  const expectedSigner = await signer.address();
  await mkdir(store, { recursive: true, mode: 0o700 });

  function createRequest(message: string) {
    return createSignRequest({ kind: 'sign-in', payload: { message, expected }, expectedSigner });
  }

  async function load(id: string): Promise<ReturnType<typeof createRequest> | undefined> {
    if (!/^p1-[0-9a-f]{36}$/.test(id)) {
      return undefined;
    }
    const message = await readFile(join(store, id), 'utf8').catch(() => undefined);
    return message === undefined ? undefined : createRequest(message);
  }

  return {
    /** Stores and submits a sign-in text. The same text has the same id. */
    async start(message: string): Promise<SignIn> {
      const request = createRequest(message);
      const id = request.externalId;
      const path = join(store, id);
      await writeFile(`${path}.new`, message, { flush: true });
      await rename(`${path}.new`, path);
      return { id, ...(await signer.submit(request)) };
    },

    /** Where a sign-in stands at the custodian. Undefined: nobody started it. */
    async read(id: string): Promise<SignIn | undefined> {
      const request = await load(id);
      // The process may have stopped between the file and the custodian: `submit` looks it up and sends it only if it is missing.
      return request && { id, ...((await signer.find(request)) ?? (await signer.submit(request))) };
    },

    async withdraw(id: string): Promise<SignIn | undefined> {
      const request = await load(id);
      const step = request && (await signer.find(request));
      if (request === undefined || step?.providerId === undefined) {
        return undefined;
      }
      const end = await signer.withdraw?.(step.providerId, request);
      return { id, ...(end ?? step) };
    },
  };
}
