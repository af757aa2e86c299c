import { computeWalletAddress, hexToBytes, Secret } from '@pool/core';
import { createSignRequest, openLedger } from '@pool/policy';
import { createDevelopmentAttester } from '../enclave/attester.ts';
import { createEnclaveSigner } from '../enclave/enclave-signer.ts';
import { createMemoryKey } from '../enclave/signing-key.ts';
import { describeSigner } from '../fixtures/conformance/describe-signer.ts';
import {
  approvalOf,
  makeFundFile,
  makePolicy,
  makeSpendFile,
  nowMs,
  permitOf,
  rebuildFund,
  requestFor,
  walletPub,
} from '../fixtures/enclave-files.ts';
import { createEnclaveOfEachRole } from '../fixtures/enclave-roles.ts';
import { createStage, pins, root } from '../fixtures/fake-enclave.ts';
import { chainId, funder, pool, privateKey, requests } from '../fixtures/requests.ts';

describeSigner('enclave', async () => {
  const stage = createStage();
  await stage.serve(
    createEnclaveOfEachRole({
      key: createMemoryKey(new Secret(hexToBytes(privateKey, 32))),
      policy: makePolicy(),
      ledger: openLedger({ path: ':memory:', role: 'voter' }),
      attester: createDevelopmentAttester(root, () => nowMs),
      nowMs: () => nowMs,
    }),
  );
  const connection = { socketPath: stage.socketPath, pins, nowMs: () => nowMs };
  const file = makeFundFile();
  const { batchNonce, total } = rebuildFund(file);
  return {
    createSigner: () =>
      createEnclaveSigner({ ...connection, address: computeWalletAddress(walletPub) }),
    createMisconfigured: (address) => createEnclaveSigner({ ...connection, address }),
    address: funder,
    capabilities: { deterministic: true, needsApprover: false, curves: ['secp256k1'] },
    requests: [
      requestFor(file),
      createSignRequest({
        kind: 'void',
        expectedSigner: funder,
        payload: { chainId, pool, funder, batchNonce },
      }),
      permitOf(file, {}),
      approvalOf(file, { value: total }),
      requests.signIn,
      requests.viewingKey,
      requestFor(makeSpendFile()),
    ],
    secrets: [privateKey.slice(2), BigInt(privateKey).toString()],
    reset: () => undefined,
    close: () => stage.close(),
  };
});
