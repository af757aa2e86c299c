/**
 * The variables of proving, in this process or by other machines.
 *
 * @module
 */
import type { ConfigVariable } from '@pool/configuration';
import { choice, opaqueSecret, path } from '@pool/configuration';
import * as kinds from './kinds.ts';

export const proverVariables = {
  prover: {
    name: 'DISBURSE_PROVER',
    role: 'disburse',
    purpose: '`mock` makes no proofs, for dry runs',
    kind: choice<'wasm' | 'mock'>(['wasm', 'mock']),
    fallback: () => 'wasm' as const,
  },
  accelerator: {
    name: 'DISBURSE_ACCELERATOR',
    role: 'all',
    purpose: 'where proofs are computed; `webgpu` fails without a GPU',
    kind: choice(kinds.accelerators),
    fallback: () => 'auto' as const,
  },
  proverQueue: {
    name: 'DISBURSE_PROVER_QUEUE',
    role: 'disburse, prover',
    purpose:
      'a PostgreSQL database through which `disburse-agent prover` processes make the proofs of batches; not the one of the jobs',
    kind: kinds.proofQueue,
    whenUnset: 'the agent makes its proofs',
  },
  proverQueuePassword: {
    name: 'DISBURSE_PROVER_QUEUE_PASSWORD',
    role: 'disburse, prover',
    purpose: 'password of the PostgreSQL user in `DISBURSE_PROVER_QUEUE`',
    kind: opaqueSecret,
    whenUnset: 'no password',
    credential: { fields: ['password'] },
  },
  proverPublicKey: {
    name: 'DISBURSE_PROVER_PUBLIC_KEY',
    role: 'disburse',
    purpose: 'the key to which the inputs of proofs are encrypted; needed with a queue',
    kind: kinds.ageRecipient,
    whenUnset: 'none',
  },
  proverPrivateKey: {
    name: 'DISBURSE_PROVER_PRIVATE_KEY',
    role: 'prover',
    purpose: 'opens the inputs of proofs, which contain salaries. On provers only',
    kind: kinds.ageIdentity,
    whenUnset: 'none',
    credential: { fields: ['privateKey'] },
  },
  artifactsDir: {
    name: 'DISBURSE_ARTIFACTS_DIR',
    role: 'all',
    purpose: 'development keys; with a manifest, the folder that `pool-circuits fetch` filled',
    kind: path,
    whenUnset: "the circuits' cache",
  },
  artifactsManifest: {
    name: 'DISBURSE_ARTIFACTS_MANIFEST',
    role: 'all',
    purpose:
      'the published manifest; each file is checked against it. Required under `NODE_ENV=production`',
    kind: path,
    whenUnset: 'development keys',
  },
} satisfies Record<string, ConfigVariable<unknown>>;
