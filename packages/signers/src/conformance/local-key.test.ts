import { describeSigner } from '../fixtures/conformance/describe-signer.ts';
import { funder, privateKey, requests, secretKey, signInAtMs } from '../fixtures/requests.ts';
import { createLocalKeySigner } from '../local-key.ts';

describeSigner('local-key', async () => ({
  createSigner: () => createLocalKeySigner({ privateKey: secretKey, nowMs: () => signInAtMs }),
  address: funder,
  capabilities: { deterministic: true, needsApprover: false, curves: ['secp256k1'] },
  requests: Object.values(requests),
  secrets: [privateKey.slice(2), BigInt(privateKey).toString()],
  reset: () => undefined,
}));
