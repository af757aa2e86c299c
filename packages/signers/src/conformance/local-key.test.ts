import { describeSigner } from '../fixtures/conformance/describe-signer.ts';
import { spellKey } from '../fixtures/conformance/witness.ts';
import { funder, privateKey, requests, secretKey, signInAtMs } from '../fixtures/requests.ts';
import { createLocalKeySigner } from '../local-key.ts';

describeSigner('local-key', {
  kind: 'local',
  open: async () => ({
    createSigner: () => createLocalKeySigner({ privateKey: secretKey, nowMs: () => signInAtMs }),
    address: funder,
    capabilities: { deterministic: true, needsApprover: false, curves: ['secp256k1'] },
    requests: Object.values(requests),
    secrets: spellKey(privateKey),
    reset: () => undefined,
  }),
});
